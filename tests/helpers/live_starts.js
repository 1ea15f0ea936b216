// What tests/book/test_live_starts.py asks of a live figure, after live_robot.js: `box` is its element, begun as its page says.
const box = await started(GIVEN.name, GIVEN.start || undefined);
const all = (selector, inside = box) => Array.from(inside.querySelectorAll(selector));
const texts = (selector, inside) => all(selector, inside).map((one) => one.textContent.trim());
const press = (name) => all("button").find((one) => one.textContent === name).click();
const slide = (name, value) => {
  const input = all(".live-slider").find((one) => one.textContent.startsWith(name)).querySelector("input");
  input.value = value;
  input.dispatchEvent(new Event("input", { bubbles: true }));
};
// Its words, and the texts of its tables and columns of bars.
const now = () => ({
  ...Object.fromEntries(["said", "before", "about"].map((name) => [name, texts(".live-" + name).join(" ")])),
  learned: texts(".live-learned p").join(" "),
  bars: all(".live-bars").map((one) => texts("b", one)),
  rows: all(".live-table tbody tr").map((row) => texts("th, td", row)),
});
