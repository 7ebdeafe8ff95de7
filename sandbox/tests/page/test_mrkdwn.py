"""Slack's text formatting: https://docs.slack.dev/messaging/formatting-message-text"""

from playwright.async_api import expect

from pocket_slack import Sandbox

CASES = {
    "plain & simple": "plain &amp; simple",
    "*bold* and *two words*": "<strong>bold</strong> and <strong>two words</strong>",
    "_it_ ~gone~": "<em>it</em> <s>gone</s>",
    "*_both_*": "<strong><em>both</em></strong>",
    "2 * 3 * 4": "2 * 3 * 4",
    "snake_case_name and a*b*c": "snake_case_name and a*b*c",
    "`*no bold*`": "<code>*no bold*</code>",
    "*bold\nnot across lines*": "*bold\nnot across lines*",
    "&lt;b&gt; &amp;amp;": "&lt;b&gt; &amp;amp;",
    "<script>": "script",
    "< b >": "&lt; b &gt;",
    ":tada: :constructor: 10:30:00": "🎉 :constructor: 10:30:00",
    "<!here> <!subteam^S1|@team>": (
        '<span class="mention">@here</span> <span class="mention">@team</span>'
    ),
    "<@UNKNOWN>": '<span class="mention">@UNKNOWN</span>',
    "<#C1|help>": '<span class="mention">#help</span>',
    "<https://example.com/a_b_c|*label*>": "<a>*label*</a>",
    "https://example.com/a_b_c, yes": "<a>https://example.com/a_b_c</a>, yes",
    "<mailto:a@example.com|a>": "<a>a</a>",
    "<javascript:alert(1)|a>": "a",
    "<data:text/html,x|a>": "a",
    "<!date^0^in {year}|then>": "<time>in {year}</time>",
    "<!date^never^{date}|then>": "<time>then</time>",
    "&gt; one\n&gt; two\nthree": "<blockquote>one\ntwo</blockquote>three",
    "```a *b*\n&lt;c&gt;```": "<pre><code>a *b*\n&lt;c&gt;</code></pre>",
}

DRAW = """async (texts) => {
  const { html, render } = await import("/page/vendor/preact.js");
  const { Mrkdwn } = await import("/page/blocks/mrkdwn.js");
  return texts.map((text) => {
    const box = document.createElement("div");
    render(html`<${Mrkdwn} text=${text} />`, box);
    for (const link of box.querySelectorAll("a")) {
      link.getAttributeNames().forEach((name) => link.removeAttribute(name));
    }
    return [text, box.firstChild.innerHTML];
  });
}"""


async def test_mrkdwn_is_drawn_as_slack_draws_it(slack: Sandbox, open_tab) -> None:
    page = (await open_tab(slack)).page
    await expect(page.get_by_role("main")).to_be_visible()
    assert dict(await page.evaluate(DRAW, list(CASES))) == CASES
