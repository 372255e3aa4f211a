/** The sources of answers for `explain`: manifests, or the entrances of a live cluster. */
import { formatNamespacedName, type NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { Paint } from "../text/paint.ts";
import { answerAtEntrances, type Entrance } from "./entrances.ts";

export type AnswerSource = {
  readonly entrances: readonly Entrance[];
  readonly gateway: NamespacedName | undefined;
  /** The assumptions by which the translation differs from the cluster; undefined for manifests. */
  readonly notes: readonly string[] | undefined;
};

export type Answered = {
  readonly data: object;
  readonly text: (paint: Paint) => string;
  readonly isRoute: boolean;
};

/** Answers the request at each entrance, and formats the relevant answer; undefined if the Gateway has no entrance. */
export async function answerAll<A extends { readonly outcome: string }>(
  { entrances, gateway, notes }: AnswerSource,
  answerAt: (entrance: Entrance) => A | Promise<A>,
  format: (answer: A, paint: Paint) => string,
): Promise<Answered | undefined> {
  const named = gateway && formatNamespacedName(gateway);
  const found = await answerAtEntrances(entrances, named, answerAt);
  if (found === undefined) return undefined;
  const { answer, taking } = found;
  const isRoute = answer.outcome === "route";
  if (notes === undefined) return { data: answer, text: (paint) => format(answer, paint), isRoute };
  return {
    data: { ...answer, entrances: taking, notes },
    text: (paint) =>
      [format(answer, paint), ...describeEntrances(taking, paint), ...describeNotes(notes, paint)].join(""),
    isRoute,
  };
}

const describeEntrances = ([first, ...others]: readonly string[], paint: Paint): readonly string[] => {
  if (first === undefined) return [];
  const also = others.length === 0 ? "" : `; ${others.join(", ")} would take it as well (--gateway chooses)`;
  return [`\n${paint.bold("Entrance")}\n  ${first}${also}\n`];
};

const describeNotes = (notes: readonly string[], paint: Paint): readonly string[] =>
  notes.length === 0 ? [] : [`\n${paint.bold("Assumed")}\n${notes.map((note) => `  ${note}\n`).join("")}`];
