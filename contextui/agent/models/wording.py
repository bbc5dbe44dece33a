"""Error messages for failed model requests, in both languages.

Placeholders: `{server}` is "The server at ADDRESS", `{at}` the address alone, `{way}`
"The proxy at ADDRESS (VARIABLE)", `{variable}` the variable that holds the key or the address.
"""

from dataclasses import dataclass

from contextui.config.settings import Lang


@dataclass(frozen=True, slots=True)
class FailureWords:
    """Error messages. In each group, those for errors reported by a server come first."""

    server: str
    through: str
    says: str
    auth: str
    no_key: str
    not_found: str
    no_api: str
    too_large: str
    thinking: str
    rate_limit: str
    overloaded: str
    bad_request: str
    failed: str
    status: str
    way_wants_name: str

    no_reply: str
    unreachable: str
    nobody: str
    untrusted: str
    no_https: str
    way: str
    way_unreachable: str
    way_refuses: str
    not_a_stream: str
    something: str
    elsewhere: str

    key_missing: str
    key_odd: str
    no_address: str
    unsendable: str
    no_certificates: str
    no_proxy: str
    no_socks: str
    no_client: str

    silent: str
    too_slow: str
    endless: str
    lost: str
    garbled: str
    cut: str
    began_twice: str
    no_type: str
    one_number: str
    not_begun: str
    not_whole: str


_ALL: dict[Lang, FailureWords] = {
    "en": FailureWords(
        server="The server at {at}",
        through="{server}, asked through {way},",
        says="{sentence} It says: {words}",
        auth="{server} does not let this key in: check {variable}.",
        no_key="{server} wants a key: set ANTHROPIC_API_KEY.",
        not_found="{server} does not know the model {model}: name another with --model or "
        "ANTHROPIC_MODEL.",
        no_api="{server} has no Messages API there: check ANTHROPIC_BASE_URL or --base-url.",
        too_large="The request is larger than the model takes.",
        thinking="The model does not take its own thinking back.",
        rate_limit="{server} was asked too much in too short a time.",
        overloaded="{server} has no room just now.",
        bad_request="{server} refuses the request{status}.",
        failed="{server} failed{status}.",
        status=" (status {status})",
        way_wants_name="{Way} wants a name and a password: put them into {variable}, as in "
        "http://name:password@host:port.",
        no_reply="{server} was asked and does not answer.",
        unreachable="{server} cannot be reached: {reason}. "
        "Check the network, and ANTHROPIC_BASE_URL or --base-url.",
        nobody="Nothing listens at {at}: start the server there, or check ANTHROPIC_BASE_URL or "
        "--base-url.",
        no_https="{at} does not speak https: write the address with http:// in ANTHROPIC_BASE_URL "
        "or --base-url.",
        untrusted="The certificate of {at} is not trusted: {reason}. Where it is right all the "
        "same, name the file of who signed it in SSL_CERT_FILE.",
        way="the proxy at {proxy} ({variable})",
        way_unreachable="{Way} cannot be reached: {reason}. Check {variable}, or name the host of "
        "{at} in NO_PROXY.",
        way_refuses="{Way} does not pass the request on to {at}: {reason}. Check {variable}, or "
        "name the host in NO_PROXY.",
        not_a_stream="{server} answered with {kind} where events were to come: "
        "check that ANTHROPIC_BASE_URL or --base-url is the address of a Messages API.",
        something="something",
        elsewhere="{server} sends requests on to {where}: if that is right, give it as "
        "ANTHROPIC_BASE_URL or --base-url, without /v1/messages.",
        key_missing="ANTHROPIC_API_KEY is not set: set it to your key, or name a server that needs "
        "none with ANTHROPIC_BASE_URL.",
        key_odd="{variable} holds characters that no key has: copy the key again.",
        no_address="{url} is no address of a server: ANTHROPIC_BASE_URL or --base-url "
        "must be like https://example.com or http://localhost:8080.",
        unsendable="The request holds something that cannot be written as JSON ({kind}).",
        no_certificates="{variable} is {value}, where no certificates can be read: name what holds "
        "them, or unset it.",
        no_proxy="{variable} is {value}: it must be the address of a proxy, such as "
        "http://localhost:3128, or unset.",
        no_socks="{variable} is {value}: a SOCKS proxy needs the package socksio "
        "(pip install socksio). Or name an HTTP proxy, or unset it.",
        no_client="No connection can be made as the environment wants it ({reason}): "
        "check {variables}.",
        silent="The answer stopped: the server sent nothing new for {seconds:g} s (max_silence).",
        too_slow="The answer was not complete after {seconds:g} s (max_answer_time) and was "
        "discarded.",
        endless="{server} sent far more than max_tokens ({tokens:,}) allows. The answer was "
        "discarded.",
        lost="The answer broke off: the connection was lost.",
        garbled="The answer came garbled: it is not what was agreed.",
        cut="The answer broke off before its end.",
        began_twice="The answer came garbled: it began twice.",
        no_type="The answer came garbled: a part of it has no type.",
        one_number="The answer came garbled: two parts of it have one number.",
        not_begun="The answer came garbled: more came of a part that had not begun or was at its "
        "end.",
        not_whole="The answer came garbled: an event of it is not whole.",
    ),
    "zh": FailureWords(
        server="服务器 {at} ",
        through="{server}（经由{way}）",
        says="{sentence}它说：{words}",
        auth="{server}不接受这个密钥：请检查 {variable}。",
        no_key="{server}需要密钥：请设置 ANTHROPIC_API_KEY。",
        not_found="{server}不认识模型 {model}：请用 --model 或 ANTHROPIC_MODEL 指定另一个。",
        no_api="{server}在该地址没有 Messages API：请检查 ANTHROPIC_BASE_URL 或 --base-url。",
        too_large="请求超过了模型所能接受的大小。",
        thinking="模型不接受它自己的思考内容。",
        rate_limit="{server}在短时间内收到了过多请求。",
        overloaded="{server}目前繁忙。",
        bad_request="{server}拒绝了请求{status}。",
        failed="{server}出错{status}。",
        status="（状态 {status}）",
        way_wants_name="{Way}需要用户名和密码：请写进 {variable}，"
        "形如 http://name:password@host:port。",
        no_reply="已向{server}发出请求，但没有回应。",
        unreachable="无法连接{server}：{reason}。"
        "请检查网络，以及 ANTHROPIC_BASE_URL 或 --base-url。",
        nobody="{at} 没有程序在监听：请启动那里的服务器，或检查 ANTHROPIC_BASE_URL 或 --base-url。",
        no_https="{at} 不使用 https：请在 ANTHROPIC_BASE_URL 或 --base-url 中把地址写成 http://。",
        untrusted="{at} 的证书不受信任：{reason}。如果它确实可信，"
        "请在 SSL_CERT_FILE 中写明签发者的证书文件。",
        way="代理 {proxy}（{variable}）",
        way_unreachable="无法连接{Way}：{reason}。请检查 {variable}，"
        "或把 {at} 的主机写进 NO_PROXY。",
        way_refuses="{Way}没有把请求转给 {at}：{reason}。请检查 {variable}，"
        "或把该主机写进 NO_PROXY。",
        not_a_stream="{server}回应的是 {kind}，而不是事件流："
        "请检查 ANTHROPIC_BASE_URL 或 --base-url 是否是 Messages API 的地址。",
        something="别的内容",
        elsewhere="{server}把请求转到 {where}：如果没有错，请用 ANTHROPIC_BASE_URL 或 --base-url "
        "指定它，不带 /v1/messages。",
        key_missing="没有设置 ANTHROPIC_API_KEY：请设为你的密钥，"
        "或用 ANTHROPIC_BASE_URL 指定不需要密钥的服务器。",
        key_odd="{variable} 含有密钥中不会出现的字符：请重新复制密钥。",
        no_address="{url} 不是服务器地址：ANTHROPIC_BASE_URL 或 --base-url "
        "应形如 https://example.com 或 http://localhost:8080。",
        unsendable="请求中含有无法写成 JSON 的内容（{kind}）。",
        no_certificates="{variable} 是 {value}，那里读不到证书：请改为证书所在之处，或取消设置。",
        no_proxy="{variable} 是 {value}：它应是代理的地址，例如 http://localhost:3128，"
        "或取消设置。",
        no_socks="{variable} 是 {value}：SOCKS 代理需要 socksio 包（pip install socksio）。"
        "也可以改用 HTTP 代理，或取消设置。",
        no_client="按当前环境变量无法建立连接（{reason}）：请检查 {variables}。",
        silent="回答中断：{seconds:g} 秒内没有收到新内容（max_silence）。",
        too_slow="{seconds:g} 秒（max_answer_time）后回答仍未完成，已放弃。",
        endless="{server}发送的内容远远超过 max_tokens（{tokens:,}）所允许的长度，回答已放弃。",
        lost="回答中断：连接丢失。",
        garbled="收到的回答是乱的：不符合约定。",
        cut="回答在结束之前中断。",
        began_twice="收到的回答是乱的：它开始了两次。",
        no_type="收到的回答是乱的：有一部分没有类型。",
        one_number="收到的回答是乱的：有两部分用了同一个编号。",
        not_begun="收到的回答是乱的：尚未开始或已经结束的部分又有了内容。",
        not_whole="收到的回答是乱的：有一个事件不完整。",
    ),
}


def of(lang: Lang) -> FailureWords:
    """Return the messages in a language."""
    return _ALL[lang]
