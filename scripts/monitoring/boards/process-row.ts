import type { Board } from "../board.ts";
import { names } from "../metric-names.ts";
import { quantile, rateBy, select } from "../promql.ts";

const { cpu, residentMemory, loopActive, loopIdle, loopDelay, heapUsed, heapLimit } = names.process;

/** Processor, memory and event loops of the pods that the matchers select. */
export const processRow = (matchers: string): Board["rows"][number] => ({
  title: "Process",
  panels: [
    {
      title: "Event loop utilization",
      description:
        "Share of the time that a thread was at work. Near 100 % requests wait for each other: add workers or pods.",
      unit: "percentunit",
      queries: [
        {
          expr: `${rateBy("pod, thread", loopActive, matchers)} / (${rateBy("pod, thread", loopActive, matchers)} + ${rateBy("pod, thread", loopIdle, matchers)})`,
          legend: "{{pod}} {{thread}}",
        },
      ],
    },
    {
      title: "Event loop delay, 99th percentile",
      description: "How late timers run: what every request waits at least.",
      unit: "s",
      queries: [{ expr: quantile(0.99, "pod, thread", loopDelay, matchers), legend: "{{pod}} {{thread}}" }],
    },
    {
      title: "Processor time",
      description: "Cores that the pods use.",
      unit: "short",
      queries: [{ expr: rateBy("pod", cpu, matchers), legend: "{{pod}}" }],
    },
    {
      title: "Memory",
      description: "Resident memory of the pods.",
      unit: "bytes",
      queries: [{ expr: `sum by (pod) (${select(residentMemory, matchers)})`, legend: "{{pod}}" }],
    },
    {
      title: "Heap, share of its limit",
      description: "A thread whose heap is exhausted is replaced, and its connections are lost.",
      unit: "percentunit",
      queries: [
        {
          expr: `${select(heapUsed, matchers)} / ${select(heapLimit, matchers)}`,
          legend: "{{pod}} {{thread}}",
        },
      ],
    },
  ],
});
