"""Finding windows: where they are, what may run of a project, and the classes in their files.

Start with `contextui.windowing.finding.registry.discover`.
"""
