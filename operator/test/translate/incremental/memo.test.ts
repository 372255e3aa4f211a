import { expect } from "chai";
import type { KubeObject } from "../../../src/api/object.ts";
import { listMemo, memo, memo2, trackedMemo, viewMemo } from "../../../src/translate/incremental/memo.ts";
import { createView } from "../../../src/translate/incremental/view.ts";
import { createWorld, emptyWorld, updateWorld, type World } from "../../../src/world.ts";

const service = (name: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { namespace: "shop", name },
});

const grant = (name: string, namespace: string, from: string): KubeObject =>
  ({
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "ReferenceGrant",
    metadata: { namespace, name },
    spec: {
      from: [{ group: "networking.k8s.io", kind: "Ingress", namespace: from }],
      to: [{ group: "", kind: "Secret" }],
    },
  }) as KubeObject;

describe("memo", () => {
  it("memo computes once per object, also when the result is undefined", () => {
    let calls = 0;
    const remember = memo<object, void>(() => void calls++);
    const input = {};
    remember(input);
    remember(input);
    remember({});
    expect(calls).to.equal(2);
  });
});

describe("memo2", () => {
  it("memo2 computes once per pair of objects", () => {
    const calls: string[] = [];
    const remember = memo2((a: { readonly id: string }, b: { readonly id: string }) => {
      calls.push(`${a.id}${b.id}`);
      return calls.length;
    });
    const [x, y] = [{ id: "x" }, { id: "y" }];
    expect([remember(x, y), remember(x, y), remember(y, x), remember(x, x)]).to.deep.equal([1, 1, 2, 3]);
    expect(calls).to.deep.equal(["xy", "yx", "xx"]);
  });
});

describe("trackedMemo", () => {
  const create = () => {
    const calls: string[] = [];
    const remember = trackedMemo((input: { readonly name: string }, extra: string, { lookup }) => {
      calls.push(extra);
      return lookup("Service", "shop", input.name)?.metadata.name ?? "none";
    });
    return { calls, remember };
  };
  const input = { name: "echo" };

  it("trackedMemo recomputes when an object that it looked up is added, changed or removed", () => {
    const { calls, remember } = create();
    const without = createWorld([service("other")]);
    const appeared = updateWorld(without, [{ type: "apply", object: service("echo") }]);
    const changed = updateWorld(appeared, [{ type: "apply", object: service("echo") }]);
    expect(remember(input, "a", without)).to.equal("none");
    expect(remember(input, "a", appeared)).to.equal("echo");
    expect(remember(input, "a", changed)).to.equal("echo");
    expect(remember(input, "a", emptyWorld)).to.equal("none");
    expect(calls).to.have.lengthOf(4);
  });

  it("trackedMemo does not recompute when other objects change", () => {
    const { calls, remember } = create();
    let world = createWorld([service("echo")]);
    remember(input, "a", world);
    for (const name of ["x", "y"]) {
      world = updateWorld(world, [{ type: "apply", object: service(name) }]);
      remember(input, "a", world);
    }
    expect(calls).to.deep.equal(["a"]);
  });

  it("trackedMemo recomputes when a permission that it checked is granted or revoked, and for no other grant", () => {
    let calls = 0;
    const remember = trackedMemo((_: object, __: undefined, { permits }) => {
      calls++;
      return permits(
        { kind: "Ingress", namespace: "shop" },
        { kind: "Secret", namespace: "vault", name: "a" },
      );
    });
    let world = createWorld([service("echo")]);
    const after = (object: KubeObject): boolean => {
      world = updateWorld(world, [{ type: "apply", object }]);
      return remember(input, undefined, world);
    };
    expect(remember(input, undefined, world)).to.equal(false);
    expect(after(grant("unrelated", "vault", "blog"))).to.equal(false);
    expect(after(grant("elsewhere", "infra", "shop"))).to.equal(false);
    expect(calls, "before the grant").to.equal(1);
    expect(after(grant("first", "vault", "shop"))).to.equal(true);
    expect(calls, "after the grant").to.equal(2);
    expect(after(grant("second", "vault", "shop"))).to.equal(true);
    expect(after(grant("first", "vault", "blog"))).to.equal(true);
    expect(calls, "while one grant or another gives it").to.equal(2);
    expect(after(grant("second", "vault", "blog"))).to.equal(false);
    expect(calls, "after the last one").to.equal(3);
  });

  it("trackedMemo recomputes for another `extra` value", () => {
    const { calls, remember } = create();
    remember(input, "a", emptyWorld);
    remember(input, "b", emptyWorld);
    expect(calls).to.deep.equal(["a", "b"]);
  });
});

describe("viewMemo", () => {
  it("viewMemo recomputes when a lookup has another result, and repeats its lookups on every view", () => {
    let calls = 0;
    const remember = viewMemo((input: { readonly name: string }, { lookup }) => {
      calls++;
      return lookup("Service", "shop", input.name)?.metadata.name ?? "none";
    });
    const input = { name: "echo" };
    const ask = (world: World) => {
      const asked: unknown[] = [];
      const view = createView(world, (query) => asked.push(query));
      return { output: remember(input, view), asked };
    };
    const query = { of: "Service", namespace: "shop", name: "echo" };
    expect(ask(emptyWorld)).to.deep.equal({ output: "none", asked: [query] });
    expect(ask(emptyWorld)).to.deep.equal({ output: "none", asked: [query] });
    expect(calls).to.equal(1);
    const present = createWorld([service("echo")]);
    expect(ask(present).output).to.equal("echo");
    expect(calls).to.equal(2);
    expect(ask(present)).to.deep.equal({ output: "echo", asked: [query] });
    expect(calls).to.equal(2);
  });
});

describe("listMemo", () => {
  const [one, two, three] = [{ id: 1 }, { id: 2 }, { id: 3 }];

  it("listMemo gives the same result for the same objects in the same order", () => {
    const remember = listMemo((items: readonly { readonly id: number }[], extra: string) => ({
      items,
      extra,
    }));
    const first = remember([one, two], "x");
    expect(remember([one, two], "x")).to.equal(first);
    expect(remember([one, two, three], "x")).not.to.equal(first);
    expect(remember([one, two], "y")).not.to.equal(first);
    expect(remember([one, three], "y").items).to.deep.equal([one, three]);
  });

  it("listMemo remembers the result of the empty list too", () => {
    const remember = listMemo((items: readonly object[], extra: string) => ({ items, extra }));
    const first = remember([], "x");
    expect(remember([], "x")).to.equal(first);
    expect(remember([], "y").extra).to.equal("y");
  });
});
