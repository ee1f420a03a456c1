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
