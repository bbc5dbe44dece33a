"""The Chinese of what the built-in windows are for, where they are listed for a person."""

CHINESE = {
    "A to-do list.": "待办清单。",
    "A text file: read it, edit it, save it.": "文本文件：阅读、编辑、保存。",
    "The files of the workspace as a tree. All paths begin at the workspace.": (
        "工作区的文件树。所有路径都从工作区开始。"
    ),
    "CPU, memory, disk, load, network and top processes of this machine, in rounded figures.": (
        "本机的 CPU、内存、磁盘、负载、网络和占用最多的进程，取整显示。"
    ),
    "Notes with a gist, a summary and the full text; `keep` makes them last in the project.": (
        "笔记：要点、摘要和全文；用 `keep` 可长久保存在项目中。"
    ),
    "Code files of this project. In an answer, <code_ref>id</code_ref> shows one to the person.": (
        "本项目的代码文件。回答中的 <code_ref>id</code_ref> 会把它显示给用户。"
    ),
}
