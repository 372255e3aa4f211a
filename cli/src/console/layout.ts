/** The frame of every page: navigation, search and the page itself. */
import { Html, html, type Part } from "./html.ts";

/** The pages of the navigation, in order. */
export const pageNames = {
  "/": "Overview",
  "/listeners": "Listeners",
  "/routes": "Routes",
  "/backends": "Backends",
  "/certificates": "Certificates",
  "/findings": "Findings",
  "/proxies": "Proxies",
  "/traffic": "Traffic",
  "/explain": "Explain a request",
} as const;

export type PagePath = keyof typeof pageNames;

export type Frame = {
  /** `controller` or `standalone`. */
  readonly mode: string;
  readonly version: string;
  /** The number of findings with severity error, which the navigation shows. */
  readonly errors: number;
  /** The time of day at which the page was rendered, in UTC. */
  readonly at: string;
};

export type Page = {
  readonly title: string;
  /** One sentence below the title. */
  readonly lead?: Part;
  /** The entry of the page in the navigation; absent if it has none. */
  readonly path?: PagePath;
  /** The content of the search box. */
  readonly query?: string;
  readonly body: Part;
};

const logo = new Html(
  '<svg viewBox="0 0 32 32" fill="none" stroke="currentColor" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="M4 16h8"/><path d="M12 16c5 0 5-9 10-9h6"/><path d="M12 16h16"/><path d="M12 16c5 0 5 9 10 9h6"/><circle cx="12" cy="16" r="2.6" fill="currentColor"/></svg>',
);

const documentOf = (title: string, body: Html): string =>
  html`${new Html("<!doctype html>")}
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} - svc-gateway</title>
        <link rel="icon" href="/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="/console.css" />
      </head>
      <body>
        ${body}
      </body>
    </html> `.markup;

/** Renders a whole page. */
export const renderPage = ({ title, lead, path, query = "", body }: Page, frame: Frame): string =>
  documentOf(
    title,
    html`<a class="skip" href="#main">Skip to the content</a>
      <div class="frame">
        <div class="side">
          <a class="brand" href="/"
            >${logo}<span>svc-gateway<small>${frame.mode} ${frame.version}</small></span></a
          >
          <nav aria-label="Pages">
            <ul>
              ${Object.entries(pageNames).map(
                ([to, name]) =>
                  html`<li>
                    <a href="${to}" ${to === path && html` aria-current="page"`}
                      >${name}${
                        to === "/findings" &&
                        frame.errors > 0 &&
                        html`<span class="badge bad">${frame.errors}</span>`
                      }</a
                    >
                  </li>`,
              )}
            </ul>
          </nav>
          <footer>
            <span>Read-only. As of <time>${frame.at} UTC</time></span>
            <form method="post" action="/sign-out"><button class="button quiet">Sign out</button></form>
          </footer>
        </div>
        <main id="main" tabindex="-1">
          <div class="bar">
            <div>
              <h1>${title}</h1>
              ${lead !== undefined && html`<p>${lead}</p>`}
            </div>
            <form class="search" role="search" action="/search">
              <input
                type="search"
                name="q"
                value="${query}"
                maxlength="200"
                placeholder="Host, path, object ..."
                aria-label="Search"
                autocomplete="off"
              /><button class="button quiet">Search</button>
            </form>
          </div>
          ${body}
        </main>
      </div>`,
  );

/** Renders the page for callers that are not signed in. */
export const renderSignIn = (how: string, problem?: string): string =>
  documentOf(
    "Sign in",
    html`<main class="signin">
      <div class="card">
        <div class="brand">
          ${logo}<span>svc-gateway<small>console</small></span>
        </div>
        <h1>Sign in</h1>
        <form method="post" action="/sign-in">
          <p class="soft">${how}</p>
          ${problem !== undefined && html`<p class="alert" role="alert">${problem}</p>`}
          <label
            >Token<input type="password" name="token" required autocomplete="off" autofocus maxlength="16384"
          /></label>
          <button class="button">Sign in</button>
        </form>
      </div>
    </main>`,
  );

export const iconFile = logo.markup
  .replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ')
  .replaceAll("currentColor", "#2b5fd9");
