// Numbers below a thousand in English and in German words, and the vocabularies in the order of attnbook/data/symbols/numbers.py.
(function (root) {
  "use strict";
  const LIVE = (root.LIVE = root.LIVE || {});
  const UNITS =
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
      " ",
    );
  const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
  const EINS =
    "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn".split(
      " ",
    );
  const ZIG = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split(" ");
  const SPECIAL = ["<pad>", "<bos>", "<eos>"];
  const ENGLISH = [...SPECIAL, ...UNITS, ...TENS, "hundred", "and", ","],
    GERMAN = [...SPECIAL, ...EINS, "eins", ...ZIG, "hundert", "und", ","];

  const english = (n) =>
    n >= 100
      ? [UNITS[Math.floor(n / 100)], "hundred", ...(n % 100 ? ["and", ...english(n % 100)] : [])]
      : n < 20
        ? [UNITS[n]]
        : [TENS[Math.floor(n / 10) - 2], ...(n % 10 ? [UNITS[n % 10]] : [])];
  const german = (n) =>
    n >= 100
      ? [EINS[Math.floor(n / 100)], "hundert", ...(n % 100 ? german(n % 100) : [])]
      : n < 20
        ? [n === 1 ? "eins" : EINS[n]]
        : [...(n % 10 ? [EINS[n % 10], "und"] : []), ZIG[Math.floor(n / 10) - 2]];
  const list = (numbers, spelled) => numbers.flatMap((n, i) => [...(i ? [","] : []), ...spelled(n)]);

  // The numbers of a line such as "42, 7", or null where it holds something else, none, or more than `most`.
  function numbersIn(text, most) {
    const numbers = text
      .split(/[\s,;]+/)
      .filter(Boolean)
      .map(Number);
    const fine = numbers.length && numbers.length <= most && numbers.every((n) => Number.isInteger(n) && n >= 0 && n <= 999);
    return fine && !/[^\d\s,;]/.test(text) ? numbers : null;
  }

  Object.assign(LIVE, {
    numbersIn,
    numbersInWords: { ENGLISH, GERMAN, english: (numbers) => list(numbers, english), german: (numbers) => list(numbers, german) },
  });
})(globalThis);
