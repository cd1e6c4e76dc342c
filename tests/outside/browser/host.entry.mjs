// An MCP Apps host: the official AppBridge around a frame without rights but scripts. Bundled
// into the page by the judge; `window.answer` is its way to the real server.
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

window.startHost = async ({ html, tool, input, result, theme, locale, silent }) => {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.title = "widget";
  document.body.append(frame);
  const bridge = new AppBridge(null, { name: "judge", version: "1" }, { serverTools: {}, openLinks: {} }, { hostContext: { theme, locale, toolInfo: { tool } } });
  window.bridge = bridge;
  window.sizes = [];
  window.links = [];
  bridge.oncalltool = (params) => window.answer(params.name, params.arguments);
  bridge.onopenlink = async ({ url }) => { window.links.push(url); return {}; };
  bridge.onsizechange = ({ height }) => {
    window.sizes.push(height);
    if (height) frame.style.height = `${height}px`;
  };
  const ready = new Promise((resolve) => { bridge.oninitialized = resolve; });
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.srcdoc = html;
  await ready;
  if (silent) return;
  await bridge.sendToolInput({ arguments: input });
  await bridge.sendToolResult(result);
};
