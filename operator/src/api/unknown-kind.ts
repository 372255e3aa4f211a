/** Describes kinds that this gateway does not read but that a user may have intended for it. */
import { didYouMean, mostSimilar } from "@svc-gateway/common/values/similar.ts";
import { definitionOf, kindNames } from "./kinds.ts";
import type { SchemaProblem } from "./validation/problem.ts";
import { describeValue } from "./validation/problem.ts";

/** Whether a group is in the domain of this gateway, whether the gateway defines the group or not. */
export const isOfOwnDomain = (group: string): boolean => /^(?:.*\.)?svc-labs\.dev$/.test(group);

/** Groups whose kinds only this gateway defines. */
const ownGroups: ReadonlySet<string> = new Set(
  kindNames.map((kind) => definitionOf(kind).group).filter(isOfOwnDomain),
);

const groups: ReadonlySet<string> = new Set(kindNames.map((kind) => definitionOf(kind).group));

/** Kinds that were in another group in Kubernetes up to 1.21. */
const formerGroups: { readonly [apiGroupAndKind: string]: string } = {
  "extensions Ingress": "networking.k8s.io/v1",
};

/**
 * Describes the problem of a manifest of an unknown kind that was intended for this gateway: its group belongs to the
 * gateway, or its kind and group differ by a letter or two from those of a kind that it reads. Returns undefined for
 * the kinds of other software.
 */
export function describeUnknownKind(apiVersion: string, kind: string): SchemaProblem | undefined {
  const slash = apiVersion.indexOf("/");
  const group = slash === -1 ? "" : apiVersion.slice(0, slash);
  if (ownGroups.has(group)) {
    const known = kindNames.filter((name) => ownGroups.has(definitionOf(name).group));
    const meant = mostSimilar(kind, known);
    const other = known.find((name) => name === meant);
    const elsewhere = other !== undefined && definitionOf(other).group !== group;
    return elsewhere && other === kind
      ? {
          path: "apiVersion",
          message: `kind ${kind} is of group ${definitionOf(other).group}, found group ${group}`,
        }
      : unknown(group, kind, known);
  }
  if (groups.has(group)) {
    const known = kindNames.filter((name) => definitionOf(name).group === group);
    return mostSimilar(kind, known) === undefined ? undefined : unknown(group, kind, known);
  }
  const now = formerGroups[`${group} ${kind}`];
  if (now !== undefined) {
    const message = `must be ${now} for kind ${kind}, found ${describeValue(apiVersion)}`;
    return { path: "apiVersion", message };
  }
  const ownKind = isOfOwnDomain(group)
    ? kindNames.find((name) => name === kind && ownGroups.has(definitionOf(name).group))
    : undefined;
  const meantGroup = ownKind === undefined ? mostSimilar(group, groups) : definitionOf(ownKind).group;
  const sameKind = kindNames.find((name) => name === kind && definitionOf(name).group === meantGroup);
  if (meantGroup === undefined || meantGroup === "" || sameKind === undefined) return undefined;
  return {
    path: "apiVersion",
    message: `unknown group ${describeValue(group)} (did you mean ${meantGroup}?)`,
  };
}

const unknown = (group: string, kind: string, known: readonly string[]): SchemaProblem => ({
  path: "kind",
  message: `no kind ${describeValue(kind)} in ${group === "" ? "the core group" : `group ${group}`}${didYouMean(kind, known)}`,
});
