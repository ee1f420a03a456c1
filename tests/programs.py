"""What traced programs consist of."""

import jax


def operations(jaxpr):
    """The names of all operations in a program, those inside of others too."""
    names = set()
    for equation in jaxpr.eqns:
        names.add(equation.primitive.name)
        for leaf in jax.tree.leaves(list(equation.params.values()), is_leaf=lambda leaf: hasattr(leaf, "eqns")):
            part = getattr(leaf, "jaxpr", leaf)
            names |= operations(part) if hasattr(part, "eqns") else set()
    return names


def depth_of_searches(program):
    """How many loops of unknown length are inside of each other in a program."""

    def deepest(jaxpr):
        return max((inside(equation) for equation in jaxpr.eqns), default=0)

    def inside(equation):
        leaves = jax.tree.leaves(list(equation.params.values()), is_leaf=lambda leaf: hasattr(leaf, "eqns"))
        parts = [getattr(leaf, "jaxpr", leaf) for leaf in leaves]
        depth = max((deepest(part) for part in parts if hasattr(part, "eqns")), default=0)
        return depth + (equation.primitive.name == "while")

    return deepest(program.jaxpr)
