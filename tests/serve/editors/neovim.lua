-- A person at Neovim: opens a file, looks at what is marked, has it mended, and looks again.
local file, python, answer = vim.env.LSP_FILE, vim.env.LSP_PYTHON, vim.env.LSP_ANSWER
local patience = 120000 -- milliseconds: a busy machine is not an error
local found = {}
local marks = nil

vim.cmd("edit " .. vim.fn.fnameescape(file))
local buffer = vim.api.nvim_get_current_buf()
local shown = vim.lsp.handlers["textDocument/publishDiagnostics"]
local client = vim.lsp.start_client({
  name = "numerate",
  cmd = { python, "-m", "numerate", "lsp" },
  root_dir = vim.fn.fnamemodify(file, ":h"),
  handlers = {
    ["textDocument/publishDiagnostics"] = function(failure, result, ...)
      marks = result.diagnostics
      return shown(failure, result, ...)
    end,
  },
})
vim.lsp.buf_attach_client(buffer, client)

local function marked(count)
  return vim.wait(patience, function()
    return marks ~= nil and #vim.diagnostic.get(buffer) == count
  end, 50)
end

local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(buffer, method, params, patience)
  return answers and answers[client] and answers[client].result
end

found.marked = marked(1)
local mark = vim.diagnostic.get(buffer)[1]
found.message, found.line, found.column = mark.message, mark.lnum, mark.col

local document = { uri = vim.uri_from_bufnr(buffer) }
local hover = ask("textDocument/hover", { textDocument = document, position = marks[1].range.start })
found.hover = hover and hover.contents.value

local actions = ask("textDocument/codeAction", {
  textDocument = document,
  range = marks[1].range,
  context = { diagnostics = marks },
})
found.actions = vim.tbl_map(function(action) return action.title end, actions)
vim.lsp.util.apply_workspace_edit(actions[1].edit, "utf-16")
found.mended = marked(0)
found.text = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)

-- Typing: the mark comes back with the error.
vim.api.nvim_buf_set_lines(buffer, 0, 1, false, { "😀 Of the patients, 42 of 120 (54%) were women." })
found.marked_again = marked(1)
found.column_again = (vim.diagnostic.get(buffer)[1] or {}).col

vim.fn.writefile({ vim.fn.json_encode(found) }, answer)
vim.cmd("qall!")
