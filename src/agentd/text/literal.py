"""Text that means what it says: expressions for lines and paragraphs in which nothing is escaped, fenced or a heading.

A document that is made of them can be read by one expression; any other is for the readers that go line by line.
"""

LINE = r"[^\s#].*+(?<![\s#])"
TEXT = r" *+[^\s#`~<].*+(?:\n\n?+ *+[^\s#`~<].*+)*+"
WORD = r"(?!(?i:null|true|false)\n)[A-Za-z][A-Za-z0-9-]*+"
SCALAR = r"""(?:[^\W_][\w ,.;!?()/'+=%*–—…’“”-]*+|"[\w ,.:;!?()/'+=%*#–—…’“”-]*+")"""
TIME = r'(?:[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z|"")'
_ODD = ("\r", "\\", "&", " \n", "\t\n")


def is_literal(text: str) -> bool:
    """Whether a document has no escapes, and no lines that end in white space or in another way than they usually do."""
    return not any(mark in text for mark in _ODD)
