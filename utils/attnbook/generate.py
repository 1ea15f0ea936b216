"""Let a pretrained language model write: ``python -m attnbook.generate smollm2 "Once upon a time"``."""

import argparse
import sys
from pathlib import Path

import torch

from attnbook.models.pretrained import load
from attnbook.models.pretrained.fetching import PUBLISHED, fetch
from attnbook.models.pretrained.halves import in_halves
from attnbook.models.pretrained.layouts import packed
from attnbook.models.pretrained.writing import as_chat, write

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def main(arguments: list[str] | None = None) -> int:
    """Write to standard output as the words come. Returns 0, or 2 if something asked for is not to be had."""
    asked = _parser().parse_args(arguments)
    torch.set_num_threads(asked.threads)
    try:
        path = fetch(asked.weights) if asked.weights in PUBLISHED else Path(asked.weights)
        pretrained = load(path, DTYPES[asked.dtype], fused=True)
        (in_halves if asked.halves else packed)(pretrained.model)
        prompt = as_chat(asked.prompt) if asked.chat else asked.prompt
        generator = torch.Generator().manual_seed(asked.seed)
        for piece in write(pretrained, prompt, asked.length, asked.temperature, asked.top_p, generator):
            print(piece, end="", flush=True)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(" … (stopped)", file=sys.stderr)
        return 130
    print()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m attnbook.generate", description=__doc__)
    parser.add_argument("weights", help=f"{', '.join(PUBLISHED)}, or a GGUF file, a safetensors file, or a folder")
    parser.add_argument("prompt", help="what the model goes on from")
    parser.add_argument("--chat", action="store_true", help="ask the prompt as a question, in a chat model's form")
    parser.add_argument("--length", type=int, default=200, help="tokens at most (200)")
    parser.add_argument("--temperature", type=float, default=0.0, help="0 takes the likeliest word (0)")
    parser.add_argument("--top-p", type=float, help="draw from the likeliest words that reach this probability")
    parser.add_argument("--seed", type=int, default=0, help="of the draws (0)")
    parser.add_argument("--dtype", choices=list(DTYPES), default="float32", help="of the weights (float32)")
    parser.add_argument("--halves", action="store_true", help="float32, but matrices as float16: writes faster")
    parser.add_argument("--threads", type=int, default=1, help="of the processor (1: decoding waits for memory)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
