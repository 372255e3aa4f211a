import { expect } from "chai";
import { createTrafficKeeper, parseCounts } from "../../src/console/traffic.ts";

const text = (ok: number, failed: number): string =>
  [
    "# TYPE svc_proxy_requests_total counter",
    `svc_proxy_requests_total{listener="80",route="a\\"b",method="GET",status_code="200"} ${ok}`,
    `svc_proxy_requests_total{listener="80",route="a\\"b",method="GET",status_code="503"} ${failed}`,
    'svc_proxy_requests_total{listener="80",route="",method="GET",status_code="404"} 1',
    'svc_proxy_requests_total_other{route="x"} 9',
    "svc_proxy_requests_total{broken",
  ].join("\n");

describe("the traffic of the console", () => {
  it("counters are read with their labels, and other lines are left out", () => {
    expect([...parseCounts(text(3, 1)).values()]).to.deep.equal([
      { route: 'a"b', status: "200", count: 3 },
      { route: 'a"b', status: "503", count: 1 },
      { route: "", status: "404", count: 1 },
    ]);
  });

  it("rates are those between two looks, the first of which looks back to the start", async () => {
    let now = text(10, 0);
    let reads = 0;
    const keeper = createTrafficKeeper(() => {
      reads++;
      return Promise.resolve(now);
    }, 0);
    const first = await keeper.look(10_000);
    expect(first.rows[0]).to.deep.equal({ route: 'a"b', requests: 10, errors: 0, rate: 1 });
    now = text(20, 10);
    expect(await keeper.look(12_000), "it is not read again so soon").to.deep.equal(first);
    const second = await keeper.look(20_000);
    expect(second).to.deep.include({ spanMs: 10_000 });
    expect(second.rows[0]).to.deep.equal({ route: 'a"b', requests: 30, errors: 10, rate: 2 });
    expect(reads).to.equal(2);
  });
});
