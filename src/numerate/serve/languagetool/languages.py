"""The languages that clients of LanguageTool may name, with its names and codes."""

import re
from dataclasses import dataclass

_NAMES = {
    "ar": "Arabic",
    "ast-ES": "Asturian",
    "be-BY": "Belarusian",
    "br-FR": "Breton",
    "ca-ES": "Catalan",
    "da-DK": "Danish",
    "de": "German",
    "de-AT": "German (Austria)",
    "de-CH": "German (Swiss)",
    "de-DE": "German (Germany)",
    "el-GR": "Greek",
    "en": "English",
    "en-AU": "English (Australian)",
    "en-CA": "English (Canadian)",
    "en-GB": "English (GB)",
    "en-NZ": "English (New Zealand)",
    "en-US": "English (US)",
    "en-ZA": "English (South African)",
    "eo": "Esperanto",
    "es": "Spanish",
    "fa": "Persian",
    "fr": "French",
    "ga-IE": "Irish",
    "gl-ES": "Galician",
    "it": "Italian",
    "ja-JP": "Japanese",
    "km-KH": "Khmer",
    "nl": "Dutch",
    "pl-PL": "Polish",
    "pt": "Portuguese",
    "pt-BR": "Portuguese (Brazil)",
    "pt-PT": "Portuguese (Portugal)",
    "ro-RO": "Romanian",
    "ru-RU": "Russian",
    "sk-SK": "Slovak",
    "sl-SI": "Slovenian",
    "sv": "Swedish",
    "ta-IN": "Tamil",
    "tl-PH": "Tagalog",
    "uk-UA": "Ukrainian",
    "zh-CN": "Chinese",
}
_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8}){0,4}")


@dataclass(frozen=True, slots=True)
class Language:
    name: str
    tag: str  # en-US

    @property
    def code(self) -> str:
        """Without the country: en."""
        return self.tag.partition("-")[0].lower()


LANGUAGES = [Language(name, tag) for tag, name in _NAMES.items()]
USUAL = Language(_NAMES["en-US"], "en-US")
_BY_TAG = {language.tag.lower(): language for language in LANGUAGES}


def language_of(tag: str) -> Language | None:
    """By its tag; one that is not listed is its own name, and what is no tag is none."""
    if not _TAG.fullmatch(tag):
        return None
    tag = tag.replace("_", "-")
    return _BY_TAG.get(tag.lower()) or Language(tag, tag)
