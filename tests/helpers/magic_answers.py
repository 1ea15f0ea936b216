"""Right answers to `weight_sum` that only Jupyter understands, and wrong ones that Jupyter accepts as little."""

BODY = "def weight_sum(weights, value):\n    return weights @ value"

RIGHT = {
    "%%time": f"%%time\n{BODY}",
    "%%capture": f"%%capture\n{BODY}",
    "%%capture with a name": f"%%capture out\nprint('hello')\n{BODY}",
    "cell magics, one in the other, below an empty line": f"\n%%time\n%%capture\n{BODY}",
    "modulo at the beginning of a line": "%precision 4\ndef weight_sum(weights, value):\n"
    "    return weights @ value * (4\n        % 3)",
    "a question": f"{BODY}\nweight_sum?",
    "a command": f"!ls\n{BODY}",
    "a command's lines": f"files = !ls\nfor name in files:\n    print(name)\n{BODY}",
    "a command's first line": f"x = !echo hi\nprint(x[0], x.s, x.l, x.n)\n{BODY}",
    "a variable of the system": f"x = %env PATH\nx.startswith('/')\n{BODY}",
    "a time": f"x = %timeit -o -n 1 -r 1 1\nprint(f'{{x.average:.3f}} {{x.best / x.worst}}')\n{BODY}",
    "a magic's value": f"here = %pwd\nprint(here.upper())\n{BODY}",
    "await": f"import asyncio\nawait asyncio.sleep(0)\n{BODY}",
    "%time": f"{BODY}\nones = torch.ones(1, 1)\n%time once = weight_sum(ones, ones)\nonce.shape",
    "display, and a magic in the function": "def weight_sum(weights, value):\n    display(weights)\n"
    "    context = %time weights @ value\n    return context",
}
WRONG = {
    "a magic that Jupyter runs as a program of its own": f"%%bash\n{BODY}",
    "a text that only looks like a magic": 'weight_sum = """\n%time\n"""',
}
