"""The kinds of damaged input. To add one, write a file here and name its class below."""

from fuzzing.archives import Archives
from fuzzing.articles import Articles
from fuzzing.checks import Checks
from fuzzing.datasets import Datasets
from fuzzing.kind import Kind
from fuzzing.markup import Markup
from fuzzing.models import Models
from fuzzing.office import Office
from fuzzing.pdfs import Pdfs
from fuzzing.requests import Requests
from fuzzing.runs import Runs
from fuzzing.table_files import TableFiles

KINDS: dict[str, type[Kind]] = {
    "articles": Articles,
    "checks": Checks,
    "tables": TableFiles,
    "office": Office,
    "pdfs": Pdfs,
    "markup": Markup,
    "requests": Requests,
    "archives": Archives,
    "datasets": Datasets,
    "runs": Runs,
    "models": Models,
}
