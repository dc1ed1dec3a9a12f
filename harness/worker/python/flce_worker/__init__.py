"""What the worker does inside the environment's Python: one case, watched, turned into an observation.

Nothing here imports torch at module level except what runs after the `import` stage, so that an environment that cannot
import torch is a result and not a broken worker.
"""
