// The default theme without fonts of its own: text is shown in the font of the reader's system.
import theme from "vitepress/theme-without-fonts";
import VersionSwitch from "./VersionSwitch.vue";
// oxlint-disable-next-line import/no-unassigned-import -- a style sheet has nothing to assign
import "./site.css";

// oxlint-disable-next-line import/no-default-export -- VitePress imports it
export default {
  extends: theme,
  enhanceApp: ({ app }) => app.component("VersionSwitch", VersionSwitch),
};
