/** The data of a dashboard: its panels as in Grafana's JSON, with the answers to their queries. */

/** A place in units of Grafana's grid, in which a dashboard is 24 wide. */
export type GridPlace = { readonly x: number; readonly y: number; readonly w: number; readonly h: number };

export type Line = {
  readonly name: string;
  /** Pairs of seconds since 1970 and value; a missing value or NaN is a gap. */
  readonly points: readonly (readonly [seconds: number, value: number])[];
};

/** A colour of Grafana for values from `value` on. In the first threshold, `value` is undefined. */
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
  /** The variables shown above the panels, each with the offered values. */
  readonly variables: readonly { readonly label: string; readonly values: readonly string[] }[];
  readonly panels: readonly PanelData[];
  /** Seconds since 1970. */
  readonly from: number;
  readonly to: number;
  readonly stepSeconds: number;
};
