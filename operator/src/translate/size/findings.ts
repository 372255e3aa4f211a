/** Findings and Events about objects that are too large. See docs/routing.md, "Size". */
import type { ObjectRef } from "../../api/object.ts";
import {
  describeLeftOut,
  describeTooLarge,
  snapshotFull,
  tooManyCertificates,
} from "../diagnostics/sizes.ts";
import { notServed } from "../events.ts";
import type { DesiredEvent, Diagnostic } from "../finding.ts";
import { memo } from "../incremental/memo.ts";
import type { LeftOut } from "./object-size.ts";
import { maxRoutesBytes } from "./route-size.ts";

/** The findings of all objects except routes, whose findings are derived from their statuses. */
export const leftOutFindings = memo((all: LeftOut): readonly Diagnostic[] =>
  [...all.values()]
    .filter(({ object }) => object.kind === "Ingress" || hasCertificates(object))
    .map((one) => snapshotFull({ object: one.object }, one)),
);

/** The findings of Gateways and ListenerSets whose certificates are too large. */
export const certificatesTooLarge = (objects: readonly ObjectRef[]): readonly Diagnostic[] =>
  objects.filter(hasCertificates).map((object) => tooManyCertificates({ object }, maxRoutesBytes));

const hasCertificates = ({ kind }: ObjectRef): boolean => kind === "Gateway" || kind === "ListenerSet";

/** An Event for each object that exceeds the limit of an object, or that is left out of a full snapshot. */
export function sizeEvents(all: LeftOut, tooLarge: readonly ObjectRef[]): readonly DesiredEvent[] {
  if (all.size + tooLarge.length === 0) return [];
  return [
    ...certificatesTooLarge(tooLarge).map(({ object, message }) => notServed(object, message)),
    ...tooLarge.flatMap((object) => {
      if (hasCertificates(object)) return [];
      const status = object.kind === "Ingress" ? 503 : 500;
      return notServed(
        object,
        `${describeTooLarge(maxRoutesBytes)}; all their requests are answered ${status}`,
      );
    }),
    ...leftOutEvents(all),
  ];
}

const leftOutEvents = memo((all: LeftOut): readonly DesiredEvent[] =>
  [...all.values()].map((one) => {
    const { message, consequence } = describeLeftOut(one);
    return notServed(one.object, `${message}; ${consequence}`);
  }),
);
