import { arrow, box, label, picture, type Shape } from "./svg.ts";

const rules = [
  ["certificates of exactly this name?", "the best one for each key type"],
  ["a wildcard for its left-most label?", "of the wildcard, likewise"],
  ["a default certificate of the port?", "the default"],
] as const;

/** Shows how the certificate of a handshake is chosen (docs/features/tls.md). */
export function certificatePicture(): string {
  const shapes = rules.flatMap(([question, answer], index): readonly Shape[] => {
    const y = 70 + index * 62;
    return [
      arrow({ x: 190, y: y - (index === 0 ? 20 : 22) }, { x: 190, y: y - 1 }, index === 0 ? "" : "no"),
      box({ x: 60, y, width: 260, height: 40 }, [question]),
      arrow({ x: 320, y: y + 20 }, { x: 458, y: y + 20 }, "yes"),
      box({ x: 460, y, width: 240, height: 40 }, [answer], "accent"),
    ];
  });
  return picture(
    300,
    "The name of the handshake selects certificates of exactly this name, then of a wildcard, then the default of the port; without any the handshake ends with the alert unrecognized_name.",
    [
      box({ x: 60, y: 10, width: 260, height: 40 }, ["server name of the handshake"], "quiet"),
      ...shapes,
      label({ x: 460, y: 40 }, "a client without a server name gets the default", { soft: true }),
      arrow({ x: 190, y: 234 }, { x: 190, y: 255 }, "no"),
      box({ x: 60, y: 256, width: 260, height: 40 }, ["alert unrecognized_name"], "warn"),
    ],
  );
}
