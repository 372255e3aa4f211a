import { textOf } from "@svc-gateway/common/values/errors.ts";
import { expect } from "chai";
import {
  changedSettings,
  compareAspects,
  expectAgreement,
  type Aspects,
  type CaseDifferences,
  type ComparedCase,
} from "./agreement.ts";
import { compareAnswers, sendAll, type Answer, type Ports } from "./ask.ts";
import { readCorpus, type CorpusCase, type CorpusRequest } from "./cases.ts";
import { targets } from "./migrated.ts";
import { aspectsOf, withCorpus } from "./served-corpus.ts";

type Asked = {
  readonly answers: ReadonlyMap<CorpusRequest, Aspects>;
  /** The answers that differ from those that the corpus expects. */
  readonly failures: readonly string[];
};

/** Sends the requests of all cases in their order. */
async function ask(ports: Ports, corpus: readonly CorpusCase[]): Promise<Asked> {
  const answers = new Map<CorpusRequest, Aspects>();
  const failures: string[] = [];
  for (const { name, requests } of corpus) {
    for (const wanted of requests) {
      const { problem, aspects } = await sendAll(ports, wanted).then(
        (all) => judge(all, wanted),
        (error: unknown) => ({ problem: textOf(error), aspects: { answer: "none" } }),
      );
      answers.set(wanted, aspects);
      if (problem !== undefined) failures.push(`${name}: ${problem}`);
    }
  }
  return { answers, failures };
}

type Judged = { readonly problem: string | undefined; readonly aspects: Aspects };

/**
 * Compares the answers with those that the corpus expects. The aspects of repeated requests contain nothing else,
 * because the time that the requests take decides which of them is limited.
 */
function judge(answers: readonly Answer[], wanted: CorpusRequest): Judged {
  const problem = problemOf(answers, wanted);
  const [first] = answers;
  if (first === undefined || answers.length > 1)
    return { problem, aspects: { answer: problem ?? "as expected" } };
  return { problem, aspects: aspectsOf(first) };
}

function problemOf(answers: readonly Answer[], wanted: CorpusRequest): string | undefined {
  try {
    compareAnswers(answers, wanted);
    return undefined;
  } catch (error) {
    return textOf(error);
  }
}

describe("Ingresses of popular charts, with ingress-nginx's annotations, served together by one gateway", function () {
  // Each part sends hundreds of requests.
  this.timeout(600_000);
  const corpus = readCorpus();
  let unchanged: Asked = { answers: new Map(), failures: [] };

  before(async () => {
    await withCorpus(corpus, undefined, async (ports) => {
      unchanged = await ask(ports, corpus);
    });
  });

  it("unchanged Ingresses answer as ingress-nginx answered", () => {
    expect(unchanged.failures).to.deep.equal([]);
  });

  for (const [name, target] of Object.entries(targets)) {
    it(`a migration to ${name} changes no answer, and nothing that backends get, but for what the report names`, async () => {
      let compared: readonly ComparedCase[] = [];
      await withCorpus(corpus, target, async (ports, report) => {
        const migrated = await ask(ports, corpus);
        const { rows = [], todo = [] } = report ?? {};
        compared = corpus.map((one) => {
          const ownTodo = todo.filter((text) => hostsOf(one).some((host) => text.includes(host)));
          return {
            key: one.name,
            differences: differencesOf(one, unchanged, migrated),
            settings: changedSettings({ rows, todo: ownTodo }, one.name),
          };
        });
      });
      expectAgreement(`${name}, sent`, compared);
    });
  }
});

const hostsOf = ({ objects }: CorpusCase): readonly string[] =>
  objects.flatMap(({ spec }) => (spec?.rules ?? []).map(({ host }) => host));

const differencesOf = ({ requests }: CorpusCase, before: Asked, after: Asked): CaseDifferences =>
  Object.fromEntries(
    requests.flatMap((wanted): [string, Aspects][] => {
      const aspects = compareAspects(before.answers.get(wanted) ?? {}, after.answers.get(wanted) ?? {});
      return Object.keys(aspects).length === 0 ? [] : [[wanted.request, aspects]];
    }),
  );
