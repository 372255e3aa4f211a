import { arrow, box, label, picture, type Shape } from "./svg.ts";

const steps = [
  ["1 See", "check, report", "ingress-nginx"],
  ["2 Install", "beside it", "ingress-nginx"],
  ["3 Compare", "same names", "ingress-nginx"],
  ["4 Move", "status or DNS", "both serve"],
  ["5 Remove", "ingress-nginx", "svc-gateway"],
] as const;

/** Shows the steps of a migration from ingress-nginx, and where clients are sent meanwhile. */
export function migrationPicture(): string {
  const shapes = steps.flatMap(([name, what, clients], index): readonly Shape[] => {
    const x = 10 + index * 150;
    return [
      box({ x, y: 20, width: 130, height: 54 }, [name, what], index === 3 ? "warn" : "accent"),
      ...(index === 0 ? [] : [arrow({ x: x - 20, y: 47 }, { x: x - 2, y: 47 })]),
      label({ x: x + 65, y: 96 }, `DNS: ${clients}`, { anchor: "middle", soft: true }),
    ];
  });
  return picture(
    150,
    "Five steps: see what would differ, install beside ingress-nginx, compare the answers, move the status or DNS, remove ingress-nginx. Until the last step the way back is one value.",
    [
      ...shapes,
      arrow({ x: 525, y: 118 }, { x: 75, y: 118 }, "", true),
      label({ x: 300, y: 138 }, "the way back: one value at each step", { anchor: "middle", soft: true }),
    ],
  );
}
