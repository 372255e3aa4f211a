import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import type { Backend } from "@svc-gateway/common/ir/route.ts";
import type { Upstream } from "../upstream/upstream.ts";

/** Holds the upstreams of a worker: one per endpoint set and protocol. */
export type UpstreamDirectory = {
  /** Takes over the endpoint sets that changed, by name; undefined is one that is gone. */
  update(changes: ReadonlyMap<string, EndpointSet | undefined>): void;
  /** The present upstream of an endpoint set. */
  get(endpoints: string, protocol: Backend["protocol"]): Upstream;
};

/**
 * What connects compiled backends to upstreams, so that new endpoints reach routes that are not compiled again. A link
 * asks the directory once after each change of its endpoint set.
 */
export type UpstreamLinks = {
  /** Gives the present upstream whenever it is called. */
  to(endpoints: string, protocol: Backend["protocol"]): () => Upstream;
  /** Hands the changes to the directory and lets the links look again. */
  update(changes: ReadonlyMap<string, EndpointSet | undefined>): void;
};

type Link = { current: Upstream | undefined; readonly get: () => Upstream };

export function createUpstreamLinks(directory: UpstreamDirectory): UpstreamLinks {
  const links = new Map<string, Partial<Record<Backend["protocol"], Link>>>();
  return {
    to(endpoints, protocol) {
      let byProtocol = links.get(endpoints);
      if (byProtocol === undefined) links.set(endpoints, (byProtocol = {}));
      const link = (byProtocol[protocol] ??= createLink(() => directory.get(endpoints, protocol)));
      return link.get;
    },
    update(changes) {
      if (changes.size === 0) return;
      directory.update(changes);
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
