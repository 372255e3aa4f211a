import type { Board } from "../board.ts";
import { names } from "../metric-names.ts";
import { rateBy, select, shownQuantile } from "../promql.ts";

const { cpu, residentMemory, loopActive, loopIdle, loopDelay, heapUsed, heapLimit } = names.process;

/**
 * Processor, memory and event loops of the pods that the matchers select and that have a metric of their role. Every
 * process has these metrics, and all processes are selected if no pod is chosen.
 */
export const processRow = (matchers: string, ofRole: string): Board["rows"][number] => ({
  title: "Process",
  panels: [
    {
      title: "Event loop utilization",
      description:
        "Share of the time that a thread was at work. Near 100 % requests wait for each other: add workers or pods.",
      unit: "percentunit",
      limits: [
        { from: null, colour: "transparent" },
        { from: 0.9, colour: "red" },
      ],
      queries: [
        {
          expr: `${rateBy("pod, thread", loopActive, matchers)} / (${rateBy("pod, thread", loopActive, matchers)} + ${rateBy("pod, thread", loopIdle, matchers)}) and on (pod) ${ofRole}`,
          legend: "{{pod}} {{thread}}",
        },
      ],
    },
    {
      title: "Event loop delay, 99th percentile",
      description: "How late timers run: what every request waits at least.",
      unit: "s",
      limits: [
        { from: null, colour: "transparent" },
        { from: 0.25, colour: "red" },
      ],
      queries: [
        {
          expr: `${shownQuantile(0.99, "pod, thread", loopDelay, matchers)} and on (pod) ${ofRole}`,
          legend: "{{pod}} {{thread}}",
        },
      ],
    },
    {
      title: "Processor time",
      description: "Cores that the pods use.",
      unit: "suffix: cores",
      queries: [{ expr: `${rateBy("pod", cpu, matchers)} and on (pod) ${ofRole}`, legend: "{{pod}}" }],
    },
    {
      title: "Memory",
      description: "Resident memory of the pods.",
      unit: "bytes",
      queries: [
        {
          expr: `sum by (pod) (${select(residentMemory, matchers)}) and on (pod) ${ofRole}`,
          legend: "{{pod}}",
        },
      ],
    },
    {
      title: "Heap, share of its limit",
      description: "A thread whose heap is exhausted is replaced, and its connections are lost.",
      unit: "percentunit",
      limits: [
        { from: null, colour: "transparent" },
        { from: 0.9, colour: "red" },
      ],
      queries: [
        {
          expr: `${select(heapUsed, matchers)} / ${select(heapLimit, matchers)} and on (pod) ${ofRole}`,
          legend: "{{pod}} {{thread}}",
        },
      ],
    },
  ],
});
