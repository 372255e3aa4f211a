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

export function createUpstreamLinks(registry: UpstreamRegistry): UpstreamLinks {
  /** By endpoint set: nearly always one, for which a map of its own would be too much. */
  const links = new Map<string, readonly Link[]>();
  return {
    to(endpoints, protocol, identity) {
      const ofSet = links.get(endpoints) ?? [];
      const known = ofSet.find((link) => link.protocol === protocol && link.identity === identity);
      if (known !== undefined) return known.get;
      const link = new Link(registry, endpoints, protocol, identity);
      links.set(endpoints, [...ofSet, link]);
      return link.get;
    },
    update(changes) {
      for (const endpoints of registry.update(changes)) {
        // Requests that still run on a removed set keep the upstream they have.
        const isGone = changes.endpoints.has(endpoints) && changes.endpoints.get(endpoints) === undefined;
        if (isGone) links.delete(endpoints);
        else for (const link of links.get(endpoints) ?? []) link.forget();
      }
    },
  };
}

class Link {
  readonly protocol: Backend["protocol"];
  readonly identity: string | undefined;
  readonly get: () => Upstream;
  private current: Upstream | undefined = undefined;

  constructor(
    registry: UpstreamRegistry,
    endpoints: string,
    protocol: Backend["protocol"],
    identity: string | undefined,
  ) {
    this.protocol = protocol;
    this.identity = identity;
    this.get = () => (this.current ??= registry.get(endpoints, protocol, identity));
  }

  /** Looks again when it is asked next. */
  forget(): void {
    this.current = undefined;
  }
}
