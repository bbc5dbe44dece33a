"""Summaries without a model: sentences and values as they were said, under the headings asked for.

Begin with `outline`; `state` fills the properties of a state in the same way.
"""
