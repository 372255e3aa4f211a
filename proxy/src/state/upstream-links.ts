import type { Backend } from "@svc-gateway/common/ir/route.ts";
import type { UpstreamChanges, UpstreamRegistry } from "../upstream/upstream-registry.ts";
import type { Upstream } from "../upstream/upstream.ts";

/**
 * The links from compiled backends to upstreams, so that new endpoints reach routes that are not compiled again. A link
 * belongs to its user and is collected with it: the only state kept here is one number for each endpoint set.
 */
export type UpstreamLinks = {
  /** Creates a link: a function that returns the current upstream; `identity` is as for `UpstreamRegistry.get`. */
  to(endpoints: string, protocol: Backend["protocol"], identity?: string): () => Upstream;
  /** Passes the changes to the registry, and lets links of changed sets look their upstream up again. */
  update(changes: UpstreamChanges): void;
};

/** An endpoint set that links follow: its upstreams have changed whenever the number has. */
type FollowedSet = { changes: number };

export function createUpstreamLinks(registry: UpstreamRegistry): UpstreamLinks {
  const sets = new Map<string, FollowedSet>();
  return {
    to(endpoints, protocol, identity) {
      const link = new Link(sets, registry, { endpoints, protocol, identity });
      return () => link.get();
    },
    update(changes) {
      for (const [endpoints, set] of changes.endpoints) {
        if (set === undefined) sets.delete(endpoints);
        else if (!sets.has(endpoints)) sets.set(endpoints, { changes: 0 });
      }
      for (const endpoints of registry.update(changes)) {
        const set = sets.get(endpoints);
        if (set !== undefined) set.changes++;
      }
    },
  };
}

type Target = {
  readonly endpoints: string;
  readonly protocol: Backend["protocol"];
  readonly identity: string | undefined;
};

/** Asks the registry once after each change of its endpoint set, and every time while there is no such set. */
class Link {
  private readonly sets: ReadonlyMap<string, FollowedSet>;
  private readonly registry: UpstreamRegistry;
  private readonly target: Target;
  private set: FollowedSet | undefined = undefined;
  private seen = 0;
  private current: Upstream | undefined = undefined;

  constructor(sets: ReadonlyMap<string, FollowedSet>, registry: UpstreamRegistry, target: Target) {
    this.sets = sets;
    this.registry = registry;
    this.target = target;
  }

  /** The current upstream; of a removed set the last one, for requests that still run. */
  get(): Upstream {
    const { current, set } = this;
    return current !== undefined && set?.changes === this.seen ? current : this.look();
  }

  private look(): Upstream {
    const { endpoints, protocol, identity } = this.target;
    this.set ??= this.sets.get(endpoints);
    this.seen = this.set?.changes ?? -1;
    return (this.current = this.registry.get(endpoints, protocol, identity));
  }
}
