-- HTML tables of Markdown, the only ones there with merged cells, as tables of their own.
function RawBlock(block)
  if block.format:match("html") then
    return pandoc.read(block.text, "html").blocks
  end
end
