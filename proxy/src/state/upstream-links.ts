import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import type { Backend } from "@svc-gateway/common/ir/route.ts";
import type { UpstreamRegistry } from "../upstream/registry.ts";
import type { Upstream } from "../upstream/upstream.ts";

/**
 * What connects compiled backends to upstreams, so that new endpoints reach routes that are not compiled again. A link
 * asks the registry once after each change of its endpoint set.
 */
export type UpstreamLinks = {
  /** Gives the present upstream whenever it is called. */
  to(endpoints: string, protocol: Backend["protocol"]): () => Upstream;
  /** Hands the changes to the registry and lets the links look again. */
  update(changes: ReadonlyMap<string, EndpointSet | undefined>): void;
};

type Link = { current: Upstream | undefined; readonly get: () => Upstream };

export function createUpstreamLinks(registry: UpstreamRegistry): UpstreamLinks {
  const links = new Map<string, Partial<Record<Backend["protocol"], Link>>>();
  return {
    to(endpoints, protocol) {
      let byProtocol = links.get(endpoints);
      if (byProtocol === undefined) links.set(endpoints, (byProtocol = {}));
      const link = (byProtocol[protocol] ??= createLink(() => registry.get(endpoints, protocol)));
      return link.get;
    },
    update(changes) {
      if (changes.size === 0) return;
      registry.update(changes);
      for (const [endpoints, set] of changes) {
        // Requests that still run on a removed set keep the upstream they have.
        if (set === undefined) links.delete(endpoints);
        else for (const link of Object.values(links.get(endpoints) ?? {})) link.current = undefined;
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
