"""The names of assertions by how much they say, in lower case and without underscores."""

import re

from agentd.patterns import regex


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The exact answer.
STRICT = _words("""
    eq equal equals asserteq assertequal assertequals deepequal strictequal deepstrictequal tobe toequal tostrictequal
    isequalto eql same assertsame issameas is equalvalues exactly tohavebeencalledwith tohavebeencalledtimes
    tohavebeencalledoncewith tohavelength tohavetext hassize tobenull tobeundefined isnull assertnull nil assertnil null
    undefined falsy tobefalsy assertarrayequals assertiterableequals assertlinesmatch containsexactly tomatchsnapshot
    jsoneq tomatchinlinesnapshot snapshot len lengthof false assertfalse isfalse empty isempty true istrue calledwith
    calledoncewith calledonce strictsame assertthatthrownby debugasserteq propasserteq assertsnapshot todeepequal
    areequal aresame single
    """)
# Only that there is an answer.
LOOSE = _words("""
    tobetruthy tobedefined ok exist exists isnotnull assertnotnull notnil notnull isok noerror isnotempty notempty
    assertdoesnotthrow truthy tobecalled isdefined pass called tohavebeencalled notthrows doesnotthrow isnotundefined
    """)
TRUTH = _words("assert asserttrue ok debugassert propassert true isok istrue expect tobetrue")
RAISES = _words("throws assertthrows tothrow throw rejects assertthrowsexactly tothrowerror throwsasync errorcontains")
EQUALS = _words("tobe toequal tostrictequal equal eql isequalto deepequal strictequal")
# The assertions of `t` in tap, tape, ava and node.
T_ASSERTIONS = _words("""
    is not deepEqual deepEquals like true false truthy falsy throws throwsAsync regex snapshot pass fail equal equals
    same ok notOk match strictEqual strictSame rejects notThrows error notEqual notSame doesNotThrow resolves
    matchSnapshot has hasStrict type ifError deepStrictEqual notDeepEqual doesNotMatch assert looseEqual
    """)
# Words of a chain that only connect.
NOISE = _words("to be been is that which and has have with at of same but does still")
BROAD = regex(r"^(Exception|Throwable|Error|RuntimeException|typeof\(Exception\))(\.class|::class(\.java)?)?$")


def key_of(name: str) -> str:
    """The spelling of a name in these lists."""
    return re.sub(r"[_!]", "", name).lower()


def word_of(key: str) -> str:
    """What a matcher says: all that compare say `==`."""
    return "==" if key in EQUALS else key


def rank_of(key: str, answers: list[str]) -> float:
    """How exactly an assertion names the answer (see Claim.rank)."""
    if key in RAISES:
        return (1 if any(BROAD.match(each) for each in answers) else 3) if answers else 2
    return 3 if key in STRICT else 1 if key in LOOSE | TRUTH else 2
