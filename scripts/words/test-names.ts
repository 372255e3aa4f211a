/**
 * Whether the name of a test can be understood without the `describe` around it (docs/style.md). A program cannot tell a
 * sentence from half of one, but halves begin with a verb or with a word that continues another text.
 */
import { placeholder } from "./tokens.ts";

/** As infinitives; "-s" and "-es" are understood. A noun that is spelt like one of them gets an article. */
const verbs = words(`
  abort accept add admit agree allow announce answer append apply arrive ask beat become begin believe bind bound break
  bring build call carry change check choose clear close come compare compile compress compute connect copy cost count
  cover create cut decide decode degrade delete deliver demand deny depend describe destroy detect differ discard displace
  do double drop echo encode end escape evaluate evict exist expire explain expose fail fall fetch fill find follow forget
  forgive forward free gain gather get give go grant grow hand hang hear hide hold ignore insist join judge keep know lead
  learn leave let lie limit list listen log look lose make map mark match measure merge miss move multiplex name need
  negotiate normalise notice offer open outlive parse pass pause permit pick pin ping play prefer print process protect
  prove publish put quote raise reach read recognise recompute reconcile refuse reject relay release remember remove renew
  repeat replace report request resend reset resolve respect rest result resume retire return reuse review route run
  sample say see select send serve set settle share show sign skip slow sort spare speak split spread stand start stay
  stop strip survive take tell terminate tolerate travel treat trim trust try turn update upgrade use validate wait wake
  want warn watch weaken weigh work write
`);

const verbForms = words(`
  am are is was were be been has have had does did can cannot could may might must should will would
  lasts pages counted found made seen sent tried
`);

/** Begin half a sentence, unless a comma follows behind which the sentence goes on. */
const openers = words(`
  after as at because before between by during for from if in inside into of off on once out over since through to
  towards under unless until up when where wherever while with within without
`);

const continuations = words(
  "also always and but else even neither never nor not only or still that then too which who",
);

/** Behind a verb that is not in the list: "frobnicates the header". */
const objects = words("a an the its it them their itself themselves whether");
/** May be followed by one of those: "all the connections". */
const determiners = words("all both half such many what");

/** Returns the fault of a test name with advice, or undefined. */
export function faultOfTestName(name: string): string | undefined {
  const [, label = "", sentence = ""] = /^(?:(\S+): )?(.*)$/s.exec(name) ?? [];
  const parts = sentence.split(/\s+/);
  if (!name.includes(placeholder) && name.split(/\s+/).length < 3) return "has fewer than three words";
  if (/^[1-5]\d\d (?:after|as|by|for|from|in|on|to|when|where|while|with|without)\b/.test(sentence)) {
    return `begins with the status ${sentence.slice(0, 3)} alone; name the subject first`;
  }
  // Everything else begins with a name, a figure, a placeholder or a quotation.
  const [, first] = /^([a-z]+),?$/.exec(parts[0] ?? "") ?? [];
  if (first === undefined) return undefined;
  const half = `begins with "${first}", as half a sentence; name the subject first`;
  if (continuations.has(first)) {
    return /^(?:even|not|only) (?:a|an|the|every|all|one|those)\b/.test(sentence) ? undefined : half;
  }
  if (openers.has(first)) {
    return /, (?:a|all|an|both|each|every|it|no|nothing|one|only|the|\W?[A-Z\d]|[`"…])/.test(sentence)
      ? undefined
      : half;
  }
  // "cors: refuses ..." has its subject.
  if (label !== "") return undefined;
  if (verbForms.has(first) || stemsOf(first).some((stem) => verbs.has(stem))) {
    return `begins with the verb "${first}"; name the subject first`;
  }
  return objects.has(parts[1] ?? "") && !determiners.has(first)
    ? `seems to begin with the verb "${first}"; name the subject first`
    : undefined;
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}

const stemsOf = (word: string): readonly string[] => [
  word,
  ...[/s$/, /es$/].flatMap((ending) => (ending.test(word) ? [word.replace(ending, "")] : [])),
  ...(word.endsWith("ies") ? [`${word.slice(0, -3)}y`] : []),
];
