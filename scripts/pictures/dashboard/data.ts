/** What a dashboard shows: its panels as Grafana's JSON has them, with the answers to their queries. */

/** Units of Grafana's grid, of which a dashboard is 24 wide. */
export type GridPlace = { readonly x: number; readonly y: number; readonly w: number; readonly h: number };

export type Line = {
  readonly name: string;
  /** Seconds since 1970, and the value; a value that is missing or NaN is a gap. */
  readonly points: readonly (readonly [seconds: number, value: number])[];
};

/** From `value` on, which is undefined in the first, a value has this colour of Grafana's. */
export type Threshold = { readonly value: number | undefined; readonly color: string };

export type PanelData = {
  readonly kind: "row" | "stat" | "timeseries";
  readonly title: string;
  readonly place: GridPlace;
  readonly unit: string;
  readonly min: number | undefined;
  readonly isLegendShown: boolean;
  readonly thresholds: readonly Threshold[];
  /** Whether the thresholds are drawn as lines in a graph. */
  readonly isThresholdShown: boolean;
  readonly lines: readonly Line[];
};

export type DashboardData = {
  readonly title: string;
  readonly description: string;
  /** The choices above the panels, each with what is offered. */
  readonly variables: readonly { readonly label: string; readonly values: readonly string[] }[];
  readonly panels: readonly PanelData[];
  /** Seconds since 1970. */
  readonly from: number;
  readonly to: number;
  readonly stepSeconds: number;
};
