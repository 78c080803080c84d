"""What reviewers say twice, and what only sounds alike: title and description of two issues on the same requirement."""

Words = tuple[str, str]

TIES = ("Ties are left open", "R1 does not say in which order words with the same count come.")
EMPTY = ("Missing scenario for empty input", "Nothing shows what top-words prints for an empty file.")
STATE = ("State parameter is not checked", "The callback accepts any state, so an attacker can forge the answer.")
LIMIT = ("No rate limit on login", "Attackers can try passwords without limit.")
EXPIRY = ("Session expiry undefined", "The spec does not define when a session expires.")
STORAGE = ("Token storage is insecure", "Refresh tokens are stored in plain text in the database.")
MIGRATION = ("Migration is missing", "Existing rows have no provider_id; nothing fills the new column.")
ORDER = ("Task order", "logic.1 depends on integration.1, which comes later.")
ROTATION = (
    "Refresh token rotation is not atomic",
    (
        "R3 says that a refresh token is replaced on use, but the plan updates the row in two statements. Two parallel "
        "requests with the same token can both succeed, which defeats reuse detection. The tasks do not mention a "
        "transaction or a lock."
    ),
)
ROUTE = (
    "Callback route conflicts with existing handler",
    (
        "src/routes.py already registers /auth/callback for SAML. Task integration.1 adds a second handler under the same "
        "path, and Flask will use the first one, so OAuth sign-in never completes."
    ),
)
STOP_WORDS = (
    "Stop words list is not specified",
    (
        "The spec speaks of common words that are left out but never names the list or where it comes from. Two "
        "implementers would choose different lists, so the counts in the scenarios cannot be checked."
    ),
)
UNREADABLE = (
    "No scenario for an unreadable file",
    "R4 requires an error message when the file cannot be read, but no scenario shows the exit code or the text.",
)
TIES_ZH = ("并列的顺序没有说明", "R1 没有说明计数相同的词按什么顺序输出。")
ROTATION_ZH = (
    "刷新令牌轮换不是原子操作",
    "R3 规定刷新令牌使用后被替换，但计划分两条语句更新该行。两个并发请求可以同时成功，重用检测失效。",
)

SAME: list[tuple[Words, Words]] = [
    (
        TIES,
        ("Order of ties still unspecified", "The spec still does not say how words with an equal count are ordered."),
    ),
    (TIES, ("Ties are left open", "Still no rule for equal frequencies; two runs may print different output.")),
    (EMPTY, ("Empty input", "No scenario says what an empty file gives.")),
    (
        STATE,
        (
            "CSRF: the state is never verified",
            "An attacker may forge the callback because the state parameter is accepted unchecked.",
        ),
    ),
    (LIMIT, ("Login lacks rate limiting", "There is still no limit on how many passwords an attacker may try.")),
    (
        EXPIRY,
        ("When do sessions expire?", "R2 should state the lifetime of a session; now its expiry is open."),
    ),
    (
        STORAGE,
        (
            "Refresh tokens in plain text",
            "The database keeps refresh tokens unencrypted (plain text), which is insecure.",
        ),
    ),
    (
        MIGRATION,
        ("No migration for existing rows", "The new column provider_id stays empty for rows that exist already."),
    ),
    (
        ORDER,
        (
            "Dependency in the wrong direction",
            "logic.1 still depends on integration.1 although that layer comes later.",
        ),
    ),
    (
        ROTATION,
        (
            "Race in refresh token rotation",
            (
                "The revised R3 still allows two concurrent requests to use one refresh token: the row is read and then "
                "updated outside a transaction, so both succeed and reuse is never detected."
            ),
        ),
    ),
    (
        ROUTE,
        (
            "/auth/callback is already taken",
            (
                "The path /auth/callback is registered for SAML in src/routes.py. The new OAuth handler of integration.1 "
                "would never be reached, because Flask picks the first registered handler."
            ),
        ),
    ),
    (
        STOP_WORDS,
        (
            "Which stop words?",
            (
                "R2 now says 'English stop words', yet the list itself and its source are still not given; implementers "
                "would use different lists and the counts in the scenarios could not be verified."
            ),
        ),
    ),
    (TIES_ZH, ("并列词的顺序仍未定义", "规范仍然没有说明计数相同的词如何排序输出。")),
    (
        ROTATION_ZH,
        (
            "刷新令牌轮换存在竞争条件",
            "修订后的 R3 仍允许两个并发请求使用同一个刷新令牌：读取和更新不在同一事务中，重用检测仍然失效。",
        ),
    ),
    (
        ("セッションの有効期限が未定義", "R2 はセッションがいつ切れるかを述べていない。"),
        ("セッション有効期限の定義がない", "セッションがいつ切れるかがまだ書かれていない。"),
    ),
]

DIFFERENT: list[tuple[Words, Words]] = [
    (TIES, EMPTY),
    (EMPTY, ("Missing scenario for huge input", "Nothing shows how top-words behaves on a file of 1 GB.")),
    (
        STATE,
        ("Redirect URI is not validated", "The callback redirects to any URI, so an attacker can steal the code."),
    ),
    (LIMIT, ("No audit log for login", "Failed logins are not written anywhere.")),
    (
        EXPIRY,
        ("Session revocation undefined", "The spec does not say how a person ends a session on another device."),
    ),
    (EXPIRY, ("Cache expiry undefined", "The spec does not define when a cache entry expires.")),
    (STORAGE, ("Token rotation is missing", "Refresh tokens are never rotated after use.")),
    (MIGRATION, ("Index is missing", "Lookups by provider_id scan the whole table.")),
    (ORDER, ("Task has the wrong file", "logic.1 names src/auth.py, which does not exist.")),
    (
        ("No error handling for timeouts", "The spec does not say what happens if the provider times out."),
        ("No error handling for denied consent", "The spec does not say what happens if the person denies consent."),
    ),
    (
        ("Priority of R2", "R2 is low although sign-in depends on it."),
        ("Priority of R3", "R3 is high although nothing depends on it."),
    ),
    (
        ("Missing test for negative numbers", "No scenario covers --top -1."),
        ("Missing test for zero", "No scenario covers --top 0."),
    ),
    (
        ROTATION,
        (
            "Refresh tokens never expire",
            (
                "R3 does not limit how long a refresh token is valid. A token that leaks can be used for ever, and the "
                "tasks have no job that removes old rows from the table."
            ),
        ),
    ),
    (
        ROUTE,
        (
            "Callback does not validate state",
            (
                "The handler of integration.1 in src/routes.py takes the code from the request without comparing the state "
                "parameter, so an attacker can complete OAuth sign-in in the victim's browser."
            ),
        ),
    ),
    (
        STOP_WORDS,
        (
            "Word boundaries are not specified",
            (
                "The spec counts words but never says what a word is: hyphens, apostrophes and digits. Two implementers "
                "would split differently, so the counts in the scenarios cannot be checked."
            ),
        ),
    ),
    (
        UNREADABLE,
        (
            "No scenario for a missing file",
            "R4 requires an error message when the file does not exist, but no scenario shows the exit code or the text.",
        ),
    ),
    (TIES_ZH, ("缺少空输入的场景", "没有场景说明空文件时的输出。")),
    (
        ("会话过期没有定义", "规范没有说明会话何时过期。"),
        ("会话撤销没有定义", "规范没有说明用户如何在其他设备上结束会话。"),
    ),
    (
        ROTATION_ZH,
        ("刷新令牌永不过期", "R3 没有限制刷新令牌的有效时间。泄露的令牌可以永远使用，任务中也没有清理旧数据的作业。"),
    ),
]
