import { styleText } from "node:util";
import type { Output } from "../command.ts";

type Style = "bold" | "dim" | "red" | "yellow" | "green" | "cyan";

/** Functions that colour text for a terminal, and return it unchanged elsewhere. Colours add no information. */
export type Paint = Readonly<Record<Style, (text: string) => string>>;

export function paintFor({ hasColours }: Pick<Output, "hasColours">): Paint {
  const paint = (style: Style) => (text: string) =>
    // `hasColours` already applies to the output for which the text is intended.
    hasColours ? styleText(style, text, { validateStream: false }) : text;
  return {
    bold: paint("bold"),
    dim: paint("dim"),
    red: paint("red"),
    yellow: paint("yellow"),
    green: paint("green"),
    cyan: paint("cyan"),
  };
}
