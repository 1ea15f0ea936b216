// Search: ranks the sections of the book by the words that they hold (BM25), also by words typed wrongly, and shows them by kind of page.
(function () {
  "use strict";
  if (typeof Search === "undefined" || !document.getElementById("search-results")) { return; } // not the page of results

  // A title counts as if its words stood there so many times more; pages of some kinds rank behind others.
  const IN_TITLE = 6, WORTH = { Chapters: 1, Glossary: 0.55, Labs: 0.6, Evidence: 0.6, "Other pages": 0.6, Reference: 0.05, "For teachers": 0.6, Quizzes: 0.3, "Solutions of the labs": 0.3 };
  const IS_NAME = /^\w*(_|[a-z][A-Z])\w*$/; // of code: sliding_window_attention, MultiHeadAttention
  const FIRST = 4; // results of a kind that are shown at once
  const AT_THE_END = /^(Further reading|Exercises|The lab|Evidence|What to remember|Where this lives today)$/; // sections that name much and explain little
  const OTHER_WORDS = { seq2seq: "sequence", sqrt: "root", prerequisite: "ready", prerequisites: "ready", syllabus: "syllabi", optimizer: "optimiser", moe: "mixture of experts", mla: "latent attention", tsp: "travelling salesman", dnc: "differentiable neural computer" }; // readers' words that the book hardly has, in its own
  const NO_WORDS = new Set([...stopwords, "what", "how", "why", "when", "where", "which", "who", "does", "do", "can", "we", "you", "i", "my", "your", "from", "about", "mean", "means", "between", "should", "has", "have", "so", "work", "works", "use", "used", "using"]);
  const stemmer = new Stemmer(), stems = new Map();
  const ROOT = document.documentElement.dataset.content_root;
  const sections = [], whole = [], count = new Map(); let told = 0; // whole: each page as one section; count: in how many sections a word stands

  const plain = (text) => text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "").normalize("NFC");
  const words = (text) => (plain(text).match(/[\p{Script=Han}]|[\p{L}\p{N}]+/gu) || []).map((word) => word.replace(/^0+(?=\d)/, "").replace(/iz(?=e|ing|ation)/, "is"));
  function stem(word) {
    if (!stems.has(word)) { stems.set(word, stemmer.stemWord(word)); }
    return stems.get(word);
  }

  const phrase = (listed) => " " + listed.map(stem).join(" ") + " ";

  window.SEARCH_TEXTS = function (pages) {
    for (const [page, kind, title, parts, keywords] of pages) {
      const slug = page.split("/").pop().replace(/([a-z])(\d+)_/, "$1 $2 ").replaceAll("_", " "); // 06_captioning: what the chapter is about, in a word
      const all = { page, kind, keywords: keywords.map((one) => phrase(words(one))), times: new Map(), length: 0, named: new Set(words(title + " " + slug).map(stem)) };
      words(slug).forEach((word) => all.times.set(stem(word), 2 * IN_TITLE));
      keywords.flatMap(words).forEach((word) => all.times.set(stem(word), IN_TITLE));
      parts.forEach(function ([anchor, heading, text], at) {
        const times = new Map(), first = at === 0, listed = words(text), named = words(kind === "Reference" ? heading.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2") : first ? title : heading); // MultiHeadAttention is three words
        const add = (word, weight) => times.set(stem(word), (times.get(stem(word)) || 0) + weight);
        listed.forEach((word) => add(word, 1));
        named.forEach((word) => add(word, IN_TITLE));
        if (!first) { words(title).forEach((word) => add(word, 1)); }
        times.forEach((often, word) => all.times.set(word, (all.times.get(word) || 0) + often));
        all.length += listed.length;
        sections.push({ page, all, kind, title, anchor: first ? "" : anchor, heading: first ? "" : heading, text, times, length: listed.length + 30, named: new Set(named.map(stem)), phrases: phrase([...named, "·", ...listed]) });
      });
      whole.push(all);
    }
    const own = sections.filter((section) => section.kind !== "Reference"); // names of code do not say which words are rare in the book
    told = own.length;
    for (const section of own) { for (const word of section.times.keys()) { count.set(word, (count.get(word) || 0) + 1); } }
    for (const section of sections) { for (const word of section.times.keys()) { if (!count.has(word)) { count.set(word, 1); } } }
    for (const list of [sections, whole]) {
      const counted = list.filter((one) => one.kind !== "Reference"), usual = counted.reduce((sum, one) => sum + one.length, 0) / counted.length;
      list.forEach((one) => { one.long = one.length / usual; });
    }
  };

  // How many letters were left out, added, exchanged or swapped; `most` or more are not counted further.
  function distance(one, other, most) {
    if (Math.abs(one.length - other.length) >= most) { return most; }
    let before, last = Array.from({ length: other.length + 1 }, (_, j) => j);
    for (let i = 1; i <= one.length; i += 1) {
      const row = [i];
      for (let j = 1; j <= other.length; j += 1) {
        row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1));
        if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) { row[j] = Math.min(row[j], before[j - 2] + 1); }
      }
      [before, last] = [last, row];
    }
    return Math.min(last[other.length], most);
  }

  // The book's words that are meant by one that it does not have: one that is cut off, two written as one, or one typed wrongly.
  function meant(word) {
    const known = [...count.keys()];
    for (let cut = 3; cut < word.length - 2; cut += 1) {
      const pair = [word.slice(0, cut), word.slice(cut)].map(stem);
      if (pair.every((part) => count.get(part) > 2)) { return pair; }
    }
    if (word.length > 3) {
      const most = word.length > 7 ? 3 : 2;
      const near = known.map((one) => [distance(word, one, most) + (one[0] === word[0] ? 0 : 0.5), one]).filter(([far]) => far < most);
      near.sort(([a, one], [b, other]) => a - b || count.get(other) - count.get(one));
      if (near.length) { return [near[0][1]]; }
    }
    const longer = known.filter((one) => one.startsWith(word));
    return longer.sort((one, other) => count.get(other) - count.get(one)).slice(0, 1);
  }

  // The words of a query as the book has them, and what was read otherwise than it was typed.
  function understood(query) {
    const typed = words(query).filter((word) => !NO_WORDS.has(word)).flatMap((word) => words(OTHER_WORDS[word] || word)), wanted = [], mended = [];
    typed.forEach(function (word, at) { // FlashAttention is one word, and typed as two
      const joined = stem(word + typed[at + 1]);
      if (count.has(joined)) { wanted.push(joined); }
    });
    for (const word of typed.length ? typed : words(query)) {
      const found = count.has(stem(word)) ? [stem(word)] : meant(stem(word));
      if (found.length && found[0] !== stem(word)) { mended.push([word, found]); }
      wanted.push(...found);
    }
    return { wanted: [...new Set(wanted)], asked: phrase(words(query)), typed: query.trim(), mended };
  }

  function score(section, { wanted, asked }) {
    let sum = 0, all = 0, got = 0;
    for (const word of wanted) {
      const rare = Math.log(1 + (told - count.get(word) + 0.5) / (count.get(word) + 0.5)), times = section.times.get(word) || 0;
      all += rare;
      got += times ? rare : section.all && section.all.times.has(word) ? rare / 2 : 0;
      sum += rare * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * section.long));
    }
    const titled = wanted.filter((word) => section.named.has(word)).length / (section.all ? Math.max(wanted.length, section.named.size) : wanted.length);
    const said = section.all && wanted.length > 1 && section.phrases.includes(asked) ? 1.5 : 1; // the query's words, one after the other
    return sum * (got / all) ** 2 * (1 + titled) * said * WORTH[section.kind] * (AT_THE_END.test(section.heading) ? 0.35 : 1);
  }

  // Pages with their sections that answer best, the best page first; before it a page that has the query among its keywords, or explains this name of the code.
  function ranked(query) {
    const pages = new Map(), called = ({ section }) => IS_NAME.test(query.typed) && section.heading === query.typed;
    for (const section of sections) {
      const points = query.wanted.length ? score(section, query) : 0;
      if (points > 0 || called({ section })) {
        const key = section.kind === "Glossary" ? section : section.page; // each term is an answer of its own
        pages.set(key, [...(pages.get(key) || []), { section, points }]);
      }
    }
    const found = [...pages.values()].map(function (hits) {
      hits.sort((a, b) => called(b) - called(a) || b.points - a.points);
      const { section, points } = hits[0];
      return { hits: hits.slice(0, 3).filter((hit, at) => at === 0 || hit.points > points / 2), points: points + (section.kind === "Glossary" ? points : score(section.all, query)), called: called(hits[0]) ? 2 : Number(section.all.keywords.includes(query.asked)) };
    }).sort((a, b) => b.called - a.called || b.points - a.points);
    const most = Math.max(...found.map((page) => page.points));
    return found.filter((page) => page.called || page.points > most / 8);
  }

  function make(tag, text, more) {
    const made = Object.assign(document.createElement(tag), more || {});
    made.append(...[text].flat());
    return made;
  }

  // Some text of a section around its first wanted word, with these words marked.
  function excerpt(text, wanted) {
    const parts = text.split(/([\p{L}\p{N}]+)/u), is = (part) => words(part).some((word) => wanted.includes(stem(word)));
    const at = Math.max(0, parts.findIndex(is) - 24), shown = parts.slice(at, at + 70);
    return make("p", [at ? "… " : "", ...shown.map((part) => is(part) ? make("mark", part) : part), at + 70 < parts.length ? " …" : ""], { className: "context" });
  }

  const link = ({ page, anchor }, text) => make("a", text, { href: ROOT + page + ".html" + (anchor ? "#" + anchor : "") });

  function item(page, wanted) {
    const [best, ...others] = page.hits.map((hit) => hit.section);
    const made = make("li", link(best, best.heading && best.kind !== "Glossary" ? best.title + " › " + best.heading : best.heading || best.title));
    made.append(excerpt(best.text, wanted));
    if (others.length) { made.append(make("p", ["Also: ", ...others.flatMap((one, at) => [at ? " · " : "", link(one, one.heading || one.title)])], { className: "search-also" })); }
    return made;
  }

  function group(kind, pages, wanted) {
    const list = make("ul", pages.slice(0, FIRST).map((page) => item(page, wanted)), { className: "search" });
    const parts = [make("h2", kind), list], rest = pages.slice(FIRST);
    if (rest.length) {
      const more = make("button", rest.length + " more", { type: "button", className: "search-more" });
      more.onclick = function () { list.append(...rest.map((page) => item(page, wanted))); list.children[FIRST].querySelector("a").focus(); more.remove(); };
      parts.push(more);
    }
    return make("section", parts);
  }

  function show(query) {
    const read = understood(query), { wanted, mended } = read, found = ranked(read);
    const kinds = [...new Set(found.map((page) => page.hits[0].section.kind))];
    const said = found.length ? found.length + (found.length === 1 ? " page or term answers “" : " pages and terms answer “") + query + "”." : "Nothing was found for “" + query + "”. Please try fewer or other words.";
    const original = new Map(sections.flatMap((section) => mended.length ? words(section.title + " " + section.heading + " " + section.text).map((word) => [stem(word), word]) : []));
    const instead = mended.map(([typed, meant]) => " “" + typed + "” was read as “" + meant.map((word) => original.get(word)).join(" ") + "”.");
    document.getElementById("search-results").replaceChildren(make("p", said + instead.join(""), { className: "search-summary", role: "status" }),
      ...kinds.map((kind) => group(kind, found.filter((page) => page.hits[0].section.kind === kind), wanted)));
  }
  window.SEARCH = { ask: (query) => ranked(understood(query)).map((page) => page.hits[0].section) };

  Search.performSearch = function (query) {
    const script = make("script", [], { src: ROOT + "_static/search_texts.js", onload: () => show(query) });
    document.head.append(script);
  };
})();
