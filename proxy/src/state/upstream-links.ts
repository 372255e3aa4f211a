import type { Backend } from "@svc-gateway/common/ir/route.ts";
import type { UpstreamChanges, UpstreamRegistry } from "../upstream/registry.ts";
import type { Upstream } from "../upstream/upstream.ts";

/**
 * What connects compiled backends to upstreams, so that new endpoints reach routes that are not compiled again. A link
 * asks the registry once after each change of its endpoint set.
 */
export type UpstreamLinks = {
  /** Gives the present upstream whenever it is called; `identity` is as for `UpstreamRegistry.get`. */
  to(endpoints: string, protocol: Backend["protocol"], identity?: string): () => Upstream;
  /** Hands the changes to the registry and lets the links look again. */
  update(changes: UpstreamChanges): void;
};

type Link = { current: Upstream | undefined; readonly get: () => Upstream };

export function createUpstreamLinks(registry: UpstreamRegistry): UpstreamLinks {
  /** By endpoint set, then by protocol and identity. */
  const links = new Map<string, Map<string, Link>>();
  return {
    to(endpoints, protocol, identity) {
      let ofSet = links.get(endpoints);
      if (ofSet === undefined) links.set(endpoints, (ofSet = new Map<string, Link>()));
      const key = `${protocol} ${identity ?? ""}`;
      const known = ofSet.get(key);
      if (known !== undefined) return known.get;
      const link = createLink(() => registry.get(endpoints, protocol, identity));
      ofSet.set(key, link);
      return link.get;
    },
    update(changes) {
      for (const endpoints of registry.update(changes)) {
        // Requests that still run on a removed set keep the upstream they have.
        const isGone = changes.endpoints.has(endpoints) && changes.endpoints.get(endpoints) === undefined;
        if (isGone) links.delete(endpoints);
        else for (const link of links.get(endpoints)?.values() ?? []) link.current = undefined;
      }
    },
  };
}

function createLink(look: () => Upstream): Link {
  const link: Link = {
    current: undefined,
    get: () => (link.current ??= look()),
  };
  return link;
}
