import { expect } from "chai";
import { exportMetrics, type MetricExport } from "../../src/telemetry/metric-set.ts";
import { measureProcess, measureThread, type Measured } from "../../src/telemetry/process-metrics.ts";

const exportOf = ({ sets, refresh }: Measured): MetricExport => {
  refresh();
  return exportMetrics(...sets);
};
const valueOf = (exported: MetricExport, name: string): number => {
  const [value = Number.NaN] = exported.find(({ declaration }) => declaration.name === name)?.values ?? [];
  return value;
};
const countOfDelays = (exported: MetricExport): number =>
  exported.find(({ declaration }) => declaration.name === "svc_event_loop_delay_seconds")?.values.at(-2) ?? 0;

describe("the metrics of a process", () => {
  it("the metrics of a process say its release, memory, processor time and start", () => {
    const exported = exportOf(measureProcess("1.2.3"));
    const build = exported.find(({ declaration }) => declaration.name === "svc_build_info");
    expect(build?.keys).to.deep.equal([`1.2.3\u0000${process.versions.node}\u0000`]);
    expect(valueOf(exported, "process_cpu_seconds_total")).to.be.above(0);
    expect(valueOf(exported, "process_resident_memory_bytes")).to.be.above(1_000_000);
    const startedAt = valueOf(exported, "process_start_time_seconds");
    expect(startedAt).to.be.within(1_700_000_000, Date.now() / 1000);
  });

  it("the metrics of a thread count the time of its event loop, and are labelled with its name", async () => {
    const thread = measureThread("7");
    const before = exportOf(thread);
    expect(before.every(({ keys }) => keys.join() === "7\u0000")).to.equal(true);
    expect(valueOf(before, "svc_heap_limit_bytes")).to.be.above(valueOf(before, "svc_heap_used_bytes"));
    const busyUntilMs = performance.now() + 20;
    while (performance.now() < busyUntilMs);
    await new Promise((resolve) => setImmediate(resolve));
    const name = "svc_event_loop_active_seconds_total";
    expect(valueOf(exportOf(thread), name)).to.be.at.least(valueOf(before, name) + 0.01);
  });

  it("the delay of the event loop is measured again and again, and a blocked one is seen", async () => {
    const thread = measureThread("main");
    const busyUntilMs = performance.now() + 300;
    while (performance.now() < busyUntilMs);
    const sumOf = (exported: MetricExport): number =>
      exported
        .find(({ declaration }) => declaration.name === "svc_event_loop_delay_seconds")
        ?.values.at(-1) ?? 0;
    while (countOfDelays(exportOf(thread)) < 2) await new Promise((resolve) => setImmediate(resolve));
    expect(sumOf(exportOf(thread))).to.be.at.least(0.15);
  });
});
