"""Simulated machines: the platform files of SimGrid, and who sits on which node."""

TOPOLOGIES = ("star", "fat-tree", "dragonfly")
LEAF = 16  # nodes of a leaf switch of the fat tree
CHASSIS, ROUTERS, NODES = 2, 4, 4  # of a dragonfly's group: chassis, routers of each, nodes of each


def cluster(nodes, topology, card, cards, latency, core):
    """The attributes of a <cluster> with at least so many nodes. `card`: bytes a second of a network card, of which a
    node has `cards`; `latency`: seconds of a link; `core`: what part of all nodes' bandwidth the star's core has (0:
    it is never full)."""
    common = {
        "id": "machine", "prefix": "n", "suffix": "", "speed": "1Gf", "sharing_policy": "SPLITDUPLEX",
        "lat": f"{latency}s", "loopback_bw": "10GBps", "loopback_lat": "0.3us",
    }
    if topology == "star":
        made = {"bw": f"{card * cards}Bps"}
        if core > 0:
            made |= {"bb_bw": f"{card * cards * nodes * core}Bps", "bb_lat": f"{latency}s"}
        elif cards > 1:  # one message goes through one card
            made |= {"bb_bw": f"{card}Bps", "bb_lat": f"{latency}s", "bb_sharing_policy": "FATPIPE"}
        hosts = nodes
    elif topology == "fat-tree":
        spines = -(-nodes // LEAF)
        leaf = min(LEAF, nodes)
        shape = f"2;{leaf},{spines};1,{max(1, leaf // 2)};{cards},{cards}" if spines > 1 else f"1;{leaf};1;{cards}"
        made = {"bw": f"{card}Bps", "topology": "FAT_TREE", "topo_parameters": shape}
        hosts = leaf * spines
    else:
        if cards > 1:
            raise ValueError("a dragonfly's nodes have one card here")
        groups = -(-nodes // (CHASSIS * ROUTERS * NODES))
        shape = f"{groups},3;{CHASSIS},2;{ROUTERS},2;{NODES}"
        made = {"bw": f"{card}Bps", "topology": "DRAGONFLY", "topo_parameters": shape}
        hosts = groups * CHASSIS * ROUTERS * NODES
    return common | made | {"radical": f"0-{hosts - 1}"}


def write(folder, nodes, ranks_per_node, **wish):
    """Makes platform.xml and hosts in `folder` (a Path); their paths."""
    attributes = " ".join(f'{name}="{value}"' for name, value in cluster(nodes, **wish).items())
    platform, hosts = folder / "platform.xml", folder / "hosts"
    platform.write_text(
        "<?xml version='1.0'?>\n"
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        f'<platform version="4.1"><zone id="world" routing="Full"><cluster {attributes}/></zone></platform>\n')
    hosts.write_text("".join(f"n{n}:{ranks_per_node}\n" for n in range(nodes)))
    return platform, hosts
