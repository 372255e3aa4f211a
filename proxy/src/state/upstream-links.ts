import type { Backend } from "@svc-gateway/common/ir/route.ts";
import type { UpstreamChanges, UpstreamRegistry } from "../upstream/registry.ts";
import type { Upstream } from "../upstream/upstream.ts";

/**
 * What connects compiled backends to upstreams, so that new endpoints reach routes that are not compiled again. A link
 * belongs to whoever asked for it and is gone with them: kept here is one number for each endpoint set that there is.
 */
export type UpstreamLinks = {
  /** Gives the present upstream whenever it is called; `identity` is as for `UpstreamRegistry.get`. */
  to(endpoints: string, protocol: Backend["protocol"], identity?: string): () => Upstream;
  /** Hands the changes to the registry and lets the links look again. */
  update(changes: UpstreamChanges): void;
};

/** An endpoint set that links follow: its upstreams are other ones whenever the number is. */
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

/** Asks the registry once after each change of its endpoint set; whenever it is asked as long as there is no such set. */
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

  /** Of a set that is gone the last upstream, for requests that still run. */
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
