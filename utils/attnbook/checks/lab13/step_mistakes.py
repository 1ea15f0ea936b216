"""What goes wrong in a step of a neural Turing machine (lab 13)."""

from __future__ import annotations

from ..engine.exercise import Mistakes

IN_ORDER = (
    "        weights = content_weights(key, beta, memory)  # (B, N)\n"
    "        weights = interpolate(weights, previous, gate)  # (B, N)\n"
    "        weights = shift_weights(weights, shift)  # (B, N)\n"
    "        return sharpen(weights, gamma)  # (B, N)\n"
)
RETURN = "return output, (new_memory, now_read, new_read_weights, new_write_weights)"


def _in_place_of_the_order(*lines):
    return {IN_ORDER: "".join(f"        {line}\n" for line in lines)}


wrong = LOOKING = Mistakes()
wrong(
    "sharpened before the shift",
    _in_place_of_the_order(
        "weights = interpolate(content_weights(key, beta, memory), previous, gate)",
        "return shift_weights(sharpen(weights, gamma), shift)",
    ),
).says("""
    You sharpened before the shift. The shift is what blurs, so sharpening comes last and takes the blur away.""")
wrong(
    "shifted before the gate",
    _in_place_of_the_order(
        "weights = shift_weights(content_weights(key, beta, memory), shift)",
        "return sharpen(interpolate(weights, previous, gate), gamma)",
    ),
).says("""
    You shifted the content weights and mixed afterwards, so a head that stays by its old place can't move on from
    there. The shift moves the *mixture*: content, interpolate, shift, sharpen.""")
wrong(
    "mixed last of all",
    _in_place_of_the_order(
        "weights = shift_weights(content_weights(key, beta, memory), shift)",
        "return interpolate(sharpen(weights, gamma), previous, gate)",
    ),
).says("""
    You mixed with the old weights at the very end. The old place must be shifted and sharpened too: content,
    interpolate, shift, sharpen.""")
wrong("shift left out", {"shift_weights(weights, shift)": "weights"}).says("""
    Your heads never shift. Then they can't step from row to row: after interpolate comes shift_weights.""")
wrong("sharpening left out", {"return sharpen(weights, gamma)": "return weights"}).says("""
    You did not sharpen. Each shift blurs the focus a little more, until it lies over the whole memory.""")
wrong("interpolation left out", {"interpolate(weights, previous, gate)": "weights"}).says("""
    You go by content alone. Without the old weights a head does not know where it was: interpolate.""")
wrong("content left out", {"interpolate(weights, previous, gate)": "previous"}).says("""
    You go by the old weights alone, and the key has no effect. Begin with content_weights, then interpolate.""")
wrong(
    "gate the wrong way round", {"interpolate(weights, previous, gate)": "interpolate(previous, weights, gate)"}
).says("""
    You called interpolate with the old weights first, so its gate works the wrong way round. Content comes first:
    interpolate(content, previous, gate).""")
wrong(
    "old weights of the two heads swapped",
    {
        "new_read_weights = look(read_weights,": "new_read_weights = look(write_weights,",
        "new_write_weights = look(write_weights,": "new_write_weights = look(read_weights,",
    },
).says("""
    Each head went on from where the *other* one was. The state is (memory, read, read weights, write weights).""")
wrong("both go on from the read head's place", {"look(write_weights,": "look(read_weights,"}).says("""
    Both heads went on from where the *read head* was. Each has its own weights of the step before.""")
wrong("both go on from the write head's place", {"look(read_weights,": "look(write_weights,"}).says("""
    Both heads went on from where the *write head* was. Each has its own weights of the step before.""")
wrong("write head goes on from the new read weights", {"look(write_weights,": "look(new_read_weights,"}).says("""
    You had overwritten the read head's weights, and the write head went on from the *new* ones. Each head goes on
    from its own weights of the step before.""")
wrong(
    "orders of the two heads swapped",
    {
        "look(read_weights, machine.read_head": "look(read_weights, machine.write_head",
        "look(write_weights, machine.write_head": "look(write_weights, machine.read_head",
    },
).says("""
    You gave each head the orders of the other. read_head is for the read head, write_head for the write head.""")
wrong("both heads get the read head's orders", {"machine.write_head": "machine.read_head"}).says("""
    You gave both heads the orders of the read head. The write head has its own: machine.write_head(hidden).""")
wrong("both heads get the write head's orders", {"machine.read_head": "machine.write_head"}).says("""
    You gave both heads the orders of the write head. The read head has its own: machine.read_head(hidden).""")

wrong = WRITING_AND_READING = Mistakes()
wrong("read before the write", {"read(new_memory, new_read_weights)": "read(memory, new_read_weights)"}).says("""
    You read from the memory as it was. In this machine the order is: both heads find their places, the writer writes,
    then the reader reads what stands there now.""")
wrong(
    "read head looks after the write",
    {
        "def look(previous, orders):": "def look(previous, orders, memory=memory):",
        "    new_read_weights = look(read_weights, machine.read_head(hidden))\n": "",
        "    now_read = read(": "    new_read_weights = look(read_weights, machine.read_head(hidden), new_memory)\n"
        "    now_read = read(",
    },
).says("""
    Your read head looked for its key in the memory after the write. Here *both* heads find their places in the memory
    as it was; only the reading itself comes after the write.""")
wrong(
    "written with the read head's weights",
    {"erase_and_add(memory, new_write_weights, erase, add)": "erase_and_add(memory, new_read_weights, erase, add)"},
).says("""
    You wrote where the *read head* looks. Each head has its own place: write with the write head's weights.""")
wrong(
    "read with the write head's weights", {"read(new_memory, new_read_weights)": "read(new_memory, new_write_weights)"}
).says("""
    You read where the *write head* looks. Each head has its own place: read with the read head's weights.""")
wrong(
    "written with the old weights",
    {"erase_and_add(memory, new_write_weights, erase, add)": "erase_and_add(memory, write_weights, erase, add)"},
).says("""
    You wrote where the write head was a step before. It has moved: write with its new weights.""")
wrong("read with the old weights", {"read(new_memory, new_read_weights)": "read(new_memory, read_weights)"}).says("""
    You read where the read head was a step before. It has moved: read with its new weights.""")
wrong(
    "read and written with the old weights",
    {
        "erase_and_add(memory, new_write_weights, erase, add)": "erase_and_add(memory, write_weights, erase, add)",
        "read(new_memory, new_read_weights)": "read(new_memory, read_weights)",
    },
).says("""
    You wrote and read where the heads were a step before. They have moved: use their new weights for both.""")
wrong("erase and add swapped", {"new_write_weights, erase, add)": "new_write_weights, add, erase)"}).says("""
    You handed erase and add on in the wrong order. machine.writing gives (erase, add), and erase_and_add takes them
    so.""")
wrong("nothing written", {"erase_and_add(memory, new_write_weights, erase, add)": "memory"}).says("""
    You did not write. Between looking and reading comes erase_and_add, which makes the new memory.""")
wrong(
    "output from what was read last", {"machine.output(hidden, now_read)": "machine.output(hidden, last_read)"}
).says("""
    You gave machine.output what was read a step before. The answer depends on what is read *now*; the controller
    alone goes by the last read.""")

wrong = CARRYING_ON = Mistakes()
wrong("weights not carried on", {RETURN: "return output, (new_memory, now_read, read_weights, write_weights)"}).says("""
    You put the heads' *old* weights into the new state, so that at each step they begin from the same place. Carry
    the new ones on.""")
wrong(
    "read weights not carried on", {RETURN: "return output, (new_memory, now_read, read_weights, new_write_weights)"}
).says("""
    You put the read head's *old* weights into the new state. Carry the new ones on.""")
wrong(
    "write weights not carried on", {RETURN: "return output, (new_memory, now_read, new_read_weights, write_weights)"}
).says("""
    You put the write head's *old* weights into the new state. Carry the new ones on.""")
wrong(
    "memory not carried on", {RETURN: "return output, (memory, now_read, new_read_weights, new_write_weights)"}
).says("""
    You put the *old* memory into the new state, so that all that was written is lost. Carry the new one on.""")
wrong(
    "read not carried on", {RETURN: "return output, (new_memory, last_read, new_read_weights, new_write_weights)"}
).says("""
    You put what was read *last* into the new state. The next step's controller needs what was read now.""")
wrong("the old state handed back", {RETURN: "return output, state"}).says("""
    You returned the state that came in. Return the new one: memory, read, and the weights of both heads.""")
wrong(
    "heads swapped in the state", {RETURN: "return output, (new_memory, now_read, new_write_weights, new_read_weights)"}
).says("""
    You returned the weights in the order (write, read). The state is (memory, read, read weights, write weights), as
    it came in.""")
wrong(
    "results swapped", {RETURN: "return (new_memory, now_read, new_read_weights, new_write_weights), output"}
).says("""
    You returned the state first. Wanted are (output, state).""")
wrong(
    "memory written in place",
    {
        "new_memory = erase_and_add(memory, new_write_weights, erase, add)": "new_memory = memory.copy_(erase_and_add(memory, new_write_weights, erase, add))"
    },
).says("""
    You wrote into the memory that came in. The step before still needs it, for its gradient above all: erase_and_add
    makes a new one.""")
wrong("past cut off", {"= state": "= (part.detach() for part in state)"}).says("""
    Your numbers are right, but you cut the state off the gradient (detach, no_grad, .data). What was written five
    steps ago must still learn from the mistake that is made now.""")

MISTAKES = [*LOOKING, *WRITING_AND_READING, *CARRYING_ON]
