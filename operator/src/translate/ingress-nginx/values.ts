/**
 * The forms of values as ingress-nginx reads them (its parsers of annotations, Go's strconv). Each form parses
 * the value as written. See docs/ingress-nginx.md, "Values".
 */
import { parseCidr, type Cidr } from "@svc-gateway/common/values/cidr.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { quote } from "../text.ts";

/** Parses a text into a value. `noun` is the name of the form on the reference page. */
export type Form<T> = { readonly noun: string; parse(raw: string): Result<T> };

const truths = new Set(["1", "t", "T", "true", "True", "TRUE"]);
const falsehoods = new Set(["0", "f", "F", "false", "False", "FALSE"]);

/** Go's strconv.ParseBool: the text is not trimmed, and no other words are accepted. */
export const booleanForm: Form<boolean> = {
  noun: "boolean",
  parse(raw) {
    if (truths.has(raw)) return ok(true);
    if (falsehoods.has(raw)) return ok(false);
    return problem(`${quote(raw)} is not a boolean`, "true or false");
  },
};

/**
 * Go's strconv.Atoi: the text is not trimmed and has no unit. ingress-nginx passes negative numbers to nginx,
 * which then rejects its whole configuration; here they are invalid.
 */
export const integerForm = ({
  min = 0,
  max = maxInteger,
  noun = "integer",
}: {
  readonly min?: number;
  readonly max?: number;
  readonly noun?: string;
} = {}): Form<number> => ({
  noun,
  parse(raw) {
    const expected =
      max === maxInteger ? `a whole number of at least ${min}` : `a whole number from ${min} to ${max}`;
    if (!/^[+-]?\d{1,19}$/.test(raw)) {
      return problem(
        `${quote(raw)} is not a whole number`,
        noun === "seconds" ? "seconds as a whole number without a unit" : expected,
      );
    }
    const value = Number(raw);
    return value >= min && value <= max ? ok(value) : problem(`${quote(raw)} is out of range`, expected);
  },
});

const maxInteger = 2 ** 31 - 1;

export const secondsForm = integerForm({ noun: "seconds" });

const bytesPerUnit: Readonly<Record<string, number>> = { "": 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/**
 * A size of nginx in bytes: digits and at most one of `k`, `m`, `g`. ingress-nginx accepts `b` and then omits
 * the setting from nginx's configuration; here it is invalid, with the same effect.
 */
export const sizeForm = ({ allowsGiga }: { readonly allowsGiga: boolean }): Form<number> => ({
  noun: "size",
  parse(raw) {
    const units = allowsGiga ? "k, m or g" : "k or m";
    const expected = `a number of bytes with an optional ${units} (powers of 1024), such as "8m"`;
    const text = normalizeText(raw);
    const match = /^(\d{1,16})([kmg]?)$/i.exec(text);
    const unit = (match?.[2] ?? "").toLowerCase();
    if (match === null || (unit === "g" && !allowsGiga)) {
      return problem(`${quote(text)} is not a size`, expected);
    }
    const bytes = Number(match[1]) * (bytesPerUnit[unit] ?? 1);
    return Number.isSafeInteger(bytes) ? ok(bytes) : problem(`${quote(text)} is out of range`, expected);
  },
});

/** Exactly `on` or `off`. Surrounding blanks are ignored. */
export const onOffForm: Form<boolean> = {
  noun: "on/off",
  parse(raw) {
    const word = normalizeText(raw);
    if (word === "on") return ok(true);
    return word === "off" ? ok(false) : problem(`${quote(word)} is not known`, "on or off");
  },
};

/** One of a few words. With `anyCase`, the case does not matter, and the value is the word as listed. */
export const wordForm = <const Word extends string>(
  words: readonly Word[],
  { anyCase = false }: { readonly anyCase?: boolean } = {},
): Form<Word> => ({
  noun: words.map((word) => `\`${word}\``).join(", "),
  parse(raw) {
    const text = normalizeText(raw);
    const found = words.find(
      (word) => word === text || (anyCase && word.toLowerCase() === text.toLowerCase()),
    );
    return found === undefined
      ? problem(`${quote(text)} is not known`, `one of ${words.join(", ")}`)
      : ok(found);
  },
});

/** A text that matches `pattern`. Every line is trimmed. */
export const textForm = (noun: string, pattern: RegExp, expected: string): Form<string> => ({
  noun,
  parse(raw) {
    const text = normalizeText(raw);
    if (controlCharacter.test(text)) return problem(`${quote(text)} holds a control character`, expected);
    return pattern.test(text) ? ok(text) : problem(`${quote(text)} is not ${withArticle(noun)}`, expected);
  },
});

const withArticle = (noun: string): string => `${/^[aeio]/i.test(noun) ? "an" : "a"} ${noun}`;

/**
 * Characters that ingress-nginx accepts in hosts and paths, and in URLs (`BasicCharsRegex` and
 * `URLIsValidRegex` of its validators). Texts of these characters are sent as written.
 */
export const basicCharacters = String.raw`A-Za-z0-9\-._~/:`;
export const urlCharacters = String.raw`${basicCharacters}?&=`;

/** An ASCII text that becomes part of a header field. */
export const asciiForm = (noun: string, pattern: RegExp, expected: string): Form<string> => {
  const form = textForm(noun, pattern, expected);
  return {
    noun,
    parse: (raw) =>
      [...raw].every((character) => character <= "~")
        ? form.parse(raw)
        : problem(`${quote(normalizeText(raw))} has other characters than ASCII`, expected),
  };
};

/** Any text without control characters. */
export const anyTextForm = (noun: string): Form<string> =>
  textForm(noun, /^/, "text without control characters");

/** Text of several lines, such as a part of nginx's configuration. */
export const linesForm = (noun: string): Form<string> => ({ noun, parse: (raw) => ok(raw) });

/**
 * A list with commas. Blanks around items, and empty items, are dropped. One invalid item makes the whole list
 * invalid.
 */
export const listForm = (noun: string, item: RegExp, expected: string): Form<readonly string[]> => ({
  noun,
  parse(raw) {
    const items = splitList(raw);
    const bad = items.find((one) => controlCharacter.test(one) || !item.test(one));
    return bad === undefined ? ok(items) : problem(`${quote(bad)} is not valid in this list`, expected);
  },
});

/** The items of a list with commas. */
const splitList = (raw: string): readonly string[] =>
  raw
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");

/** The text of an annotation as ingress-nginx sees it: every line is trimmed. Here the whole text is trimmed too. */
export const normalizeText = (raw: string): string =>
  raw
    .split("\n")
    .map((line) => line.trim())
    .join("\n")
    .trim();

// oxlint-disable-next-line no-control-regex
const controlCharacter = /[\u0000-\u001F\u007F]/;

/** `namespace/name`, or only a name if `optionalNamespace` is set. */
export const referenceForm = ({
  optionalNamespace,
}: {
  readonly optionalNamespace: boolean;
}): Form<{ readonly namespace: string | undefined; readonly name: string }> => ({
  noun: optionalNamespace ? "[namespace/]name" : "namespace/name",
  parse(raw) {
    const text = normalizeText(raw);
    const expected = optionalNamespace ? "a name, or namespace/name" : "namespace/name";
    const [first = "", second, ...rest] = text.split("/");
    const name = second ?? first;
    const namespace = second === undefined ? undefined : first;
    const isNamed = objectName.test(name) && (namespace === undefined || objectName.test(namespace));
    if (!isNamed || rest.length > 0 || (namespace === undefined && !optionalNamespace)) {
      return problem(`${quote(text)} is not a reference`, expected);
    }
    return ok({ namespace, name });
  },
});

/**
 * The text of a reference, which a group parses. For values of other characters ingress-nginx ignores the setting or
 * does not load the Ingress; a text of these characters that is not a reference closes the paths.
 */
export const referenceTextForm = (noun: string, expected: string): Form<string> =>
  textForm(noun, new RegExp(`^[${basicCharacters}]+$`), expected);

const objectName = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

/**
 * Addresses and ranges. One invalid item makes the whole list invalid, and a list without an item is invalid as
 * well.
 */
export const rangesForm: Form<readonly Cidr[]> = {
  noun: "list of addresses and CIDRs",
  parse(raw) {
    const expected = 'addresses and CIDRs with commas, such as "10.0.0.0/8, 192.0.2.1"';
    const items = splitList(raw);
    if (items.length === 0) return problem("holds no address", expected);
    const ranges: Cidr[] = [];
    for (const item of items) {
      const range = parseCidr(item);
      if (!range.ok) return problem(`${quote(item)} is not an address or CIDR`, expected);
      ranges.push(range.value);
    }
    return ok(ranges);
  },
};
