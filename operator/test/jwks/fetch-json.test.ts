import { expect } from "chai";
import { fetchJson } from "../../src/jwks/fetch-json.ts";

/** More is tested with real servers, in cli/test/standalone/fetch-json.test.ts. */
describe("fetching a key set", () => {
  const never = (): Promise<never> => new Promise(() => {});
  const url = "https://id.example/jwks";
  const unresolved = "its host name cannot be resolved";

  it("a fetch times out although name servers do not answer", async () => {
    const { signal } = new AbortController();
    const fetched = await fetchJson(url, { allowCidrs: [], signal, timeoutMs: 20, resolve: never });
    expect(fetched).to.deep.equal({ ok: false, error: { message: unresolved } });
  });

  it("a fetch that is aborted ends while its host name is being resolved", async () => {
    for (const isLate of [true, false]) {
      const ending = new AbortController();
      if (!isLate) ending.abort();
      const fetching = fetchJson(url, { allowCidrs: [], signal: ending.signal, resolve: never });
      ending.abort();
      expect(await fetching).to.have.nested.property("error.message", unresolved);
    }
  });

  it("a fetch never connects to a port of the gateway itself, even if the address is allowed", async () => {
    const resolve = () => Promise.resolve([{ address: "10.0.0.7", family: 4 }]);
    const asked: string[] = [];
    const fetched = await fetchJson("https://id.example:8082/jwks", {
      allowCidrs: [{ family: 4, network: "10.0.0.0", prefixLength: 8 }],
      signal: new AbortController().signal,
      resolve,
      isRefused: (ip, port) => asked.push(`${ip} ${port}`) > 0,
    });
    expect(fetched).to.deep.equal({ ok: false, error: { message: "its host is the gateway itself" } });
    expect(asked).to.deep.equal(["10.0.0.7 8082"]);
  });
});
