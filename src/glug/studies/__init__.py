"""Published and analytic problems (`glug validate`) and speed (`glug bench`), each defined once.

`registry` names them without importing them; `rows` is what they report; `isolated` runs a measurement in a
process of its own.
"""
