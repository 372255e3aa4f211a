import { expect } from "chai";
import fc from "fast-check";
import { counter, gauge, histogram } from "../../src/telemetry/metric-declaration.ts";
import { exposeExport, exposeMetrics } from "../../src/telemetry/exposition.ts";
import { mergeExports } from "../../src/telemetry/merge-metrics.ts";
import { createMetricSet, exportMetrics, type MetricExport } from "../../src/telemetry/metric-set.ts";

const declarations = {
  events: counter("t_events_total", "Events.", { kind: ["a", "b"] }),
  requests: counter("t_requests_total", "Requests.", { route: [], code: ["x", "y"] }),
  open: gauge("t_open", "Open."),
  hosts: gauge("t_hosts", "Hosts.", {}, "max"),
  expiry: gauge("t_expiry_seconds", "Expiry.", { sni: [] }, "min"),
  duration: histogram("t_duration_seconds", "Duration.", [0.1, 1, 10], { route: [] }),
} as const;

const createSet = () => createMetricSet(declarations);

/** The sample lines of an exposition as a record. */
const samples = (body: string): Record<string, number> =>
  Object.fromEntries(
    body
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
  );

describe("metric set", () => {
  it("every metric is exposed with help and type in the Prometheus text format", async () => {
    const { body, contentType } = await exposeMetrics(createSet());
    expect(contentType).to.equal("text/plain; version=0.0.4; charset=utf-8");
    for (const { name, type, help } of Object.values(declarations)) {
      expect(body).to.include(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`);
    }
    expect(body.endsWith("\n")).to.equal(true);
  });

  it("the series that are known beforehand start at zero, and no others", async () => {
    expect(samples((await exposeMetrics(createSet())).body)).to.deep.equal({
      't_events_total{kind="a"}': 0,
      't_events_total{kind="b"}': 0,
      t_open: 0,
      t_hosts: 0,
    });
  });

  it("the combinations of labels that are known beforehand start at zero where they are at most eight", async () => {
    const pair = (reasons: readonly string[]) =>
      createMetricSet({
        pair: counter("t_pairs_total", "Pairs.", { result: ["ok", "nack"], reason: reasons }),
      });
    expect(samples((await exposeMetrics(pair(["a", "b"]))).body)).to.deep.equal({
      't_pairs_total{result="ok",reason="a"}': 0,
      't_pairs_total{result="ok",reason="b"}': 0,
      't_pairs_total{result="nack",reason="a"}': 0,
      't_pairs_total{result="nack",reason="b"}': 0,
    });
    expect(samples((await exposeMetrics(pair([..."abcde"]))).body)).to.deep.equal({});
  });

  it("counters, gauges and histograms are exposed with their values", async () => {
    const set = createSet();
    set.events.with({ kind: "a" }).inc();
    set.events.with({ kind: "a" }).inc(2);
    set.open.with({}).inc(5);
    set.open.with({}).dec();
    set.hosts.with({}).set(7);
    const duration = set.duration.with({ route: "r" });
    for (const seconds of [0.05, 0.1, 0.5, 10, 11]) duration.observe(seconds);
    expect(samples((await exposeMetrics(set)).body)).to.deep.include({
      't_events_total{kind="a"}': 3,
      't_events_total{kind="b"}': 0,
      t_open: 4,
      t_hosts: 7,
      't_duration_seconds_bucket{le="0.1",route="r"}': 2,
      't_duration_seconds_bucket{le="1",route="r"}': 3,
      't_duration_seconds_bucket{le="10",route="r"}': 4,
      't_duration_seconds_bucket{le="+Inf",route="r"}': 5,
      't_duration_seconds_sum{route="r"}': 21.65,
      't_duration_seconds_count{route="r"}': 5,
    });
  });

  it("the same labels in any order give the same series", () => {
    const set = createSet();
    expect(set.requests.with({ route: "r", code: "x" })).to.equal(
      set.requests.with({ code: "x", route: "r" }),
    );
    expect(set.requests.with({ route: "r", code: "x" })).to.not.equal(
      set.requests.with({ route: "r", code: "y" }),
    );
  });

  it("label values are escaped", async () => {
    const set = createSet();
    set.duration.with({ route: 'a"b\\c\nd' });
    expect((await exposeMetrics(set)).body).to.include('t_duration_seconds_count{route="a\\"b\\\\c\\nd"} 0');
  });

  it("a removed series is no longer exposed, and further counts on it are dropped", async () => {
    const set = createSet();
    const removed = set.requests.with({ route: "old", code: "x" });
    set.requests.with({ route: "new", code: "x" }).inc();
    set.requests.remove(({ route }) => route === "old");
    removed.inc();
    const present = samples((await exposeMetrics(set)).body);
    expect(Object.keys(present).filter((key) => key.startsWith("t_requests"))).to.deep.equal([
      't_requests_total{route="new",code="x"}',
    ]);
    expect(set.requests.with({ route: "old", code: "x" }).value).to.equal(0);
  });

  it("several sets are separate and can be exposed together", async () => {
    const one = createMetricSet({ a: gauge("t_a", "A.") });
    const two = createMetricSet({ b: gauge("t_b", "B.") });
    one.a.with({}).set(1);
    expect(samples((await exposeMetrics(one, two)).body)).to.deep.equal({ t_a: 1, t_b: 0 });
  });

  it("an observation is counted in the first bucket that holds it", () => {
    const bounds = [0.1, 1, 10];
    fc.assert(
      fc.property(fc.double({ min: 0, max: 20, noNaN: true }), (value) => {
        const series = createSet().duration.with({ route: "r" });
        series.observe(value);
        const expected = bounds.findIndex((bound) => value <= bound);
        expect(series.counts[expected < 0 ? bounds.length : expected]).to.equal(1);
        expect(series.sum).to.equal(value);
      }),
    );
  });
});

describe("merged exports", () => {
  const expose = async (exports: readonly MetricExport[]): Promise<string> =>
    (await exposeExport(await mergeExports(exports))).body;

  const workers = () => {
    const [one, two] = [createSet(), createSet()];
    for (const [index, set] of [one, two].entries()) {
      set.events.with({ kind: "a" }).inc(index + 1);
      set.open.with({}).set(10);
      set.hosts.with({}).set(5 + index);
      set.expiry.with({ sni: "x" }).set(100 - index);
      set.duration.with({ route: "r" }).observe(index + 0.5);
    }
    two.requests.with({ route: "only-two", code: "x" }).inc();
    return [exportMetrics(one), exportMetrics(two)] as const;
  };

  it("merged exports are summed, or take the largest or smallest value, as declared", async () => {
    const merged = samples(await expose(workers()));
    expect(merged).to.deep.include({
      't_events_total{kind="a"}': 3,
      t_open: 20,
      t_hosts: 6,
      't_expiry_seconds{sni="x"}': 99,
      't_requests_total{route="only-two",code="x"}': 1,
      't_duration_seconds_bucket{le="1",route="r"}': 1,
      't_duration_seconds_bucket{le="10",route="r"}': 2,
      't_duration_seconds_bucket{le="+Inf",route="r"}': 2,
      't_duration_seconds_sum{route="r"}': 2,
      't_duration_seconds_count{route="r"}': 2,
    });
  });

  it("an export survives the transfer between threads and a second merge", async () => {
    const [one, two] = workers();
    const copied = structuredClone(await mergeExports([one]));
    expect(samples(await expose([copied, two]))).to.deep.equal(samples(await expose([one, two])));
  });

  it("merged exports without workers are empty", async () => {
    expect(await expose([])).to.equal("");
  });
});
