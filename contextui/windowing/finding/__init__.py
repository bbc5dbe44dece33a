"""Window discovery: where window classes are found, and which project code is trusted to run.

Start with `contextui.windowing.finding.registry.discover`.
"""
