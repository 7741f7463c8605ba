"""The documents of a dataset's split as articles, from which a detector learns."""

from numerate.detector.articles import Article
from numerate.documents.document import Table
from numerate.lm.data.dataset import Split
from numerate.text.reading_rules import ReadingRules
from numerate.text.tokenizer import Token


def articles_of(split: Split, rules: ReadingRules) -> list[Article]:
    """Return the documents of a split, each with its paragraphs and all its tables."""
    sight = split.sight("tables")
    assert sight.sources is not None
    tables, owners = split.tables(), split.table_documents()
    first: dict[str, int] = {}
    of_document: dict[str, list[Table]] = {}
    for index, (owner, table) in enumerate(zip(owners, tables, strict=True)):
        first.setdefault(owner, index)
        of_document.setdefault(owner, []).append(table)
    names = ["document", "text", "tokens", "starts", "ends", "numerals"]
    found: dict[str, Article] = {}
    row = 0
    for batch in split.batches(names):
        columns = (batch.column(name).to_pylist() for name in names)
        for document, text, tokens, starts, ends, numerals in zip(*columns, strict=True):
            if document not in found:
                found[document] = Article(
                    document, [], [], of_document.get(document, []), [], rules
                )
            article, places = found[document], set(numerals)
            article.texts.append(text)
            article.tokens.append(
                [
                    Token(token, start, end, at in places)
                    for at, (token, start, end) in enumerate(zip(tokens, starts, ends, strict=True))
                ]
            )
            views = sight.views[slice(*sight.view_offsets[row : row + 2])]
            seen = sight.sources[views].tolist()
            article.views.append([source - first[document] for source in seen if source >= 0])
            row += 1
    return list(found.values())
