/** The redirect from `/` of a host (`app-root` of ingress-nginx). See docs/ingress-nginx.md, "Redirects". */
import type { PathMatch } from "@svc-gateway/common/ir/match.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { literalBeginning, withoutAnchor } from "@svc-gateway/common/values/regex-literal.ts";
import { compileRegex } from "@svc-gateway/common/values/regex.ts";
import type { ObjectRef } from "../../api/object.ts";
import type { HostClaim, RouteClaim } from "./claims.ts";
import { isEveryPath } from "./path.ts";

/** A claim that its Ingress has won. */
type Won = { readonly claim: RouteClaim; readonly owner: ObjectRef };

/**
 * Chooses the oldest application root of Ingresses that are in the owner's namespace or serve the path `/`. A path
 * `/` that an older Ingress has, or that a route of another namespace precedes for exactly `/`, serves nothing there.
 */
export function chooseAppRoot(
  byAge: readonly HostClaim[],
  {
    ownerNamespace,
    winners,
    ofPaths,
  }: {
    readonly ownerNamespace: string | undefined;
    readonly winners: readonly Won[];
    /** The routes of the winners in the order in which they are tried. */
    readonly ofPaths: readonly Route[];
  },
  reportForeign: (loser: ObjectRef, ownerNamespace: string) => void,
): Route | undefined {
  let roots: RootServers | undefined;
  const servesRoot = (owner: ObjectRef): boolean => {
    roots ??= rootServersOf(winners, ofPaths);
    return roots.namespace === owner.namespace && roots.owners.has(owner);
  };
  let chosen: Route | undefined;
  for (const { appRoot, owner } of byAge) {
    if (appRoot === undefined) continue;
    if (owner.namespace === ownerNamespace || servesRoot(owner)) chosen ??= appRoot.route;
    else reportForeign(owner, ownerNamespace ?? "");
  }
  return chosen;
}

type RootServers = {
  /** The namespace whose route receives requests for exactly `/`. */
  readonly namespace: string | undefined;
  /** The Ingresses that have won a path `/`. */
  readonly owners: ReadonlySet<ObjectRef>;
};

function rootServersOf(winners: readonly Won[], ofPaths: readonly Route[]): RootServers {
  const first = ofPaths.find(({ match }) => takesRoot(match.path))?.id;
  const owners = winners.filter(({ claim }) => {
    const { path } = claim.route.match;
    return isEveryPath(path) || isRoot(path);
  });
  return {
    namespace: winners.find(({ claim }) => claim.route.id === first)?.owner.namespace,
    owners: new Set(owners.map(({ owner }) => owner)),
  };
}

/** Whether a route receives requests for exactly `/`, if no earlier one does. */
function takesRoot(path: PathMatch): boolean {
  if (path.type !== "regex") return isEveryPath(path) || isRoot(path);
  const begins = literalBeginning(withoutAnchor(path.value) ?? "").text;
  if (!"/".startsWith(begins)) return false;
  const regex = compileRegex(path.value, { whole: false });
  return regex.ok && regex.value.test("/");
}

const isRoot = ({ type, value }: PathMatch): boolean => type === "exact" && value === "/";
