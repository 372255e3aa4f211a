import type { Backend } from "@svc-gateway/common/ir/route.ts";
import type { FollowedSet, UpstreamRegistry } from "../upstream/upstream-registry.ts";
import type { Upstream } from "../upstream/upstream.ts";

/**
 * The links from compiled backends to upstreams, by which new endpoints take effect without compiling routes again. The
 * registry does not reference links, so a link is garbage-collected with its user.
 */
export type UpstreamLinks = {
  /** Creates a link: a function that returns the current upstream; `identity` is as for `UpstreamRegistry.get`. */
  to(endpoints: string, protocol: Backend["protocol"], identity?: string): () => Upstream;
};

export function createUpstreamLinks(registry: Pick<UpstreamRegistry, "follow" | "get">): UpstreamLinks {
  return {
    to(endpoints, protocol, identity) {
      const link = new Link(registry, { endpoints, protocol, identity });
      return () => link.get();
    },
  };
}

type Target = {
  readonly endpoints: string;
  readonly protocol: Backend["protocol"];
  readonly identity: string | undefined;
};

/** Queries the registry once after each change of the endpoint set, and at every call while the set does not exist. */
class Link {
  private readonly registry: Pick<UpstreamRegistry, "follow" | "get">;
  private readonly target: Target;
  private set: FollowedSet | undefined = undefined;
  private seen = 0;
  private current: Upstream | undefined = undefined;

  constructor(registry: Pick<UpstreamRegistry, "follow" | "get">, target: Target) {
    this.registry = registry;
    this.target = target;
  }

  /** Returns the current upstream; for a removed set the last one, for requests that are still in progress. */
  get(): Upstream {
    const { current, set } = this;
    return current !== undefined && set?.changes === this.seen ? current : this.look();
  }

  private look(): Upstream {
    const { endpoints, protocol, identity } = this.target;
    this.set = this.registry.follow(endpoints);
    this.seen = this.set?.changes ?? -1;
    return (this.current = this.registry.get(endpoints, protocol, identity));
  }
}
