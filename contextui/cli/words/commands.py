"""Chinese texts of the commands, and of invalid arguments."""

CHINESE: dict[str, str] = {
    "The summary is not saved: contextui -c resumes without it.": (
        "摘要没有保存：contextui -c 会在没有它的情况下继续。"
    ),
    # arguments
    "{said} See {program} --help.": "{said}见 {program} --help。",
    "{said} Is {near} meant? See {program} --help.": "{said}是不是 {near}？见 {program} --help。",
    "{flag} is given twice.": "{flag} 给了两次。",
    "There is no command {word}. Is {near} meant? "
    "As a prompt for the app it is written: contextui -- {word}": (
        "没有命令 {word}。是不是 {near}？作为应用的提示请写：contextui -- {word}"
    ),
    "-p takes one prompt. Put it in quotes, or give it on stdin with -p -.": (
        "-p 只接受一个提示。请加上引号，或用 -p - 从标准输入给出。"
    ),
    "Write the command first: contextui {name} …": "请把命令写在最前面：contextui {name} …",
    "--fork goes on in a copy: say of which session, with -c or -r.": (
        "--fork 在副本中继续：请用 -c 或 -r 说明是哪个会话。"
    ),
    "{flag} is for one turn without a screen: give it with -p.": (
        "{flag} 用于没有屏幕的一轮：请和 -p 一起使用。"
    ),
    # debug and compact
    "items   {active:,} in the context, {left_out:,} left out; "
    "{windows:,} of all {total:,} are windows\n"
    "tokens  ~{tokens:,} in the context, ~{all:,} with all items": (
        "条目   上下文中 {active:,} 个，略去 {left_out:,} 个；"
        "全部 {total:,} 个中有 {windows:,} 个窗口\n"
        "token  上下文中约 {tokens:,} 个，含全部条目约 {all:,} 个"
    ),
    "goes   {item}": "移出  {item}",
    "stays  {item}": "保留  {item}",
    "{line} (pinned)": "{line}（已固定）",
    "{goes}, ~{tokens} tokens, would go into a summary; {stays}, ~{rest} tokens, would stay.": (
        "{goes}（约 {tokens} 个 token）将并入总结；{stays}（约 {rest} 个 token）将保留。"
    ),
    "Compacted {many}: {saved}.": "已压缩 {many}：{saved}。",
    "{before} → {after} tokens, {percent}% less": ("{before} → {after} 个 token，减少 {percent}%"),
    ", with {files}": "，包含文件：{files}",
    "/undo in the app takes it back: {command}": "在应用中用 /undo 可以撤销：{command}",
    "{error} Nothing was changed.": "{error}没有任何改动。",
    "There is no summary: {error} The newest part was kept: {saved}.": (
        "没有得到总结：{error} 已保留最近的部分：{saved}。"
    ),
    "contextui compact tries again.": "contextui compact 再试一次。",
    # lists
    "folder": "文件夹",
    "last entry": "最后一条",
    "first words": "开头的话",
    "(nothing was said)": "（什么也没说）",
    "There are no sessions yet.": "还没有会话。",
    "None can be read.": "都无法读取。",
    "There are no sessions of this folder yet; --all lists those of all folders.": (
        "这个文件夹还没有会话；--all 列出所有文件夹的会话。"
    ),
    "setting": "设置",
    "value": "值",
    "from": "来源",
    "{name} is set.": "{name} 已设置。",
    "{name} is not set.": "{name} 未设置。",
    "What lasts is kept in {folder}.": "数据保存在 {folder}。",
    # windows
    "Wrote {window} and {test}.": "已写入 {window} 和 {test}。",
    "Try it:   {command}": "试用：  {command}",
    "Test it:  {command}": "测试：  {command}",
    "For that pytest is needed: {command}": "为此需要 pytest：{command}",
    "There is a window {name} already, {origin}. Take another name.": (
        "已经有名为 {name} 的窗口：{origin}。请换一个名称。"
    ),
    "{folder} is not trusted.": "{folder} 不受信任。",
    "There are no windows in {folder}.": "{folder} 中没有窗口。",
    "default": "默认",
    "These files are trusted.": "这些文件已受信任。",
    "Nothing was trusted.": "没有信任任何文件。",
    "Trusted. You are asked again when a file changes.": "已信任。文件变化时会再次询问。",
    "They can do all that you can do. Trust them? [y]es, [N]o, [s]how them: ": (
        "它们能做你能做的一切。信任它们吗？[y] 是，[N] 否，[s] 显示内容："
    ),
    "{count} line": "{count} 行",
    "{count} lines": "{count} 行",
    "This is not valid Python.": "这不是有效的 Python。",
    "defines {names}": "定义 {names}",
    "imports {names}": "导入 {names}",
    "There is nobody to ask. Read the files, then run contextui trust --yes.": (
        "没有人可以询问。请先阅读文件，再运行 contextui trust --yes。"
    ),
    # serve
    "contextui serve needs more: pip install 'contextui[serve]'": (
        "contextui serve 还需要：pip install 'contextui[serve]'"
    ),
    "{host} is not this machine alone. Whoever has the link can use the model "
    "and your files, and nothing on the way is encrypted.": (
        "{host} 不只是本机。拿到链接的人都能使用模型和你的文件，而且传输不加密。"
    ),
    "--port is {port}: it must be a number from 0 to 65535.": (
        "--port 是 {port}：必须是 0 到 65535 的数字。"
    ),
    "There is no host {name}. See --host.": "没有主机 {name}。见 --host。",
    "{name} port {port} cannot be used: {reason}. Give another --port.": (
        "{name} 的端口 {port} 无法使用：{reason}。请换一个 --port。"
    ),
}
