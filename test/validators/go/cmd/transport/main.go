// In charge of: measuring a transport stream by ETSI TR 101 290, with go-astits reading packets and tables.
// Prints one JSON object with what was measured. Not in charge of: which values are accepted (test/node/validators/programs/tsAnalyzers.ts).
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/asticode/go-astits"
)

type report struct {
	Packets int `json:"packets"`
	// Errors of the reader: tables with a wrong CRC, packets without a sync byte.
	Broken []string `json:"broken"`
	// Continuity counter errors, and packets with transport_error_indicator.
	Continuity int `json:"continuity"`
	Errors     int `json:"errors"`
	// Longest intervals in milliseconds.
	PatMs float64 `json:"pat_ms"`
	PmtMs float64 `json:"pmt_ms"`
	PcrMs float64 `json:"pcr_ms"`
	SdtMs float64 `json:"sdt_ms"`
	PtsMs float64 `json:"pts_ms"`
	// Largest distance of a PCR from the line fitted through all of them, in nanoseconds: meaningful at a constant rate.
	PcrNs float64 `json:"pcr_ns"`
	Sdt   bool    `json:"sdt"`
	// PIDs of the program map without a packet, and PIDs with packets that no table names.
	Missing  []uint16 `json:"missing"`
	Unlisted []uint16 `json:"unlisted"`
	// Types of the elementary streams, in the order of the program map.
	Types []int `json:"types"`
}

const packetSize = 188

type place struct {
	packet int
	clock  float64 // milliseconds
}

// Longest interval between times in ms, including the start and the end of the stream.
func widest(times []float64, from, to float64) float64 {
	if len(times) == 0 {
		return to - from
	}
	largest := math.Max(times[0]-from, to-times[len(times)-1])
	for at := 1; at < len(times); at++ {
		largest = math.Max(largest, times[at]-times[at-1])
	}
	return largest
}

// Arrival time of a packet, interpolated between the surrounding clock references.
func arrival(references []place, packet int) float64 {
	for at := 1; at < len(references); at++ {
		if packet <= references[at].packet || at == len(references)-1 {
			a, b := references[at-1], references[at]
			return a.clock + (b.clock-a.clock)*float64(packet-a.packet)/float64(b.packet-a.packet)
		}
	}
	return 0
}

// Largest distance from the line through the first and the last reference, after the best-fit line is subtracted.
func jitter(references []place) float64 {
	n := float64(len(references))
	if n < 3 {
		return 0
	}
	var sx, sy, sxx, sxy float64
	for _, one := range references {
		x := float64(one.packet)
		sx, sy, sxx, sxy = sx+x, sy+one.clock, sxx+x*x, sxy+x*one.clock
	}
	slope := (n*sxy - sx*sy) / (n*sxx - sx*sx)
	offset := (sy - slope*sx) / n
	var largest float64
	for _, one := range references {
		largest = math.Max(largest, math.Abs(one.clock-offset-slope*float64(one.packet)))
	}
	return largest * 1e6
}

func measure(data []byte) (report, error) {
	found := report{Broken: []string{}, Missing: []uint16{}, Unlisted: []uint16{}, Types: []int{}}
	counters := map[uint16]uint8{}
	packets := map[uint16]int{}
	starts := map[uint16][]int{}
	var references []place
	for at := 0; at+packetSize <= len(data); at += packetSize {
		if data[at] != 0x47 {
			found.Broken = append(found.Broken, fmt.Sprintf("no sync byte at byte %d", at))
			return found, nil
		}
	}
	reader := astits.NewDemuxer(context.Background(), bytes.NewReader(data), astits.DemuxerOptPacketSize(packetSize))
	for {
		packet, err := reader.NextPacket()
		if errors.Is(err, astits.ErrNoMorePackets) {
			break
		}
		if err != nil {
			return found, err
		}
		index := found.Packets
		found.Packets++
		pid := packet.Header.PID
		packets[pid]++
		if packet.Header.TransportErrorIndicator {
			found.Errors++
		}
		field := packet.AdaptationField
		if packet.Header.HasPayload && pid != 0x1fff {
			before, known := counters[pid]
			breaks := field != nil && field.DiscontinuityIndicator
			if known && !breaks && packet.Header.ContinuityCounter != (before+1)&15 {
				found.Continuity++
			}
			counters[pid] = packet.Header.ContinuityCounter
		}
		if packet.Header.PayloadUnitStartIndicator {
			starts[pid] = append(starts[pid], index)
		}
		if field != nil && field.HasPCR {
			clock := float64(field.PCR.Base)/90 + float64(field.PCR.Extension)/27000
			references = append(references, place{index, clock})
		}
	}
	if len(references) < 2 {
		found.Broken = append(found.Broken, "fewer than two clock references")
		return found, nil
	}
	first, last := arrival(references, 0), arrival(references, found.Packets-1)
	var clocks []float64
	for _, one := range references {
		clocks = append(clocks, one.clock)
	}
	found.PcrMs = widest(clocks, clocks[0], clocks[len(clocks)-1])
	found.PcrNs = jitter(references)
	every := func(pid uint16) float64 {
		var times []float64
		for _, index := range starts[pid] {
			times = append(times, arrival(references, index))
		}
		return widest(times, first, last)
	}

	tables := astits.NewDemuxer(context.Background(), bytes.NewReader(data), astits.DemuxerOptPacketSize(packetSize))
	stamps := map[uint16][]float64{}
	listed := map[uint16]bool{0: true, 0x11: true, 0x10: true, 0x12: true, 0x14: true, 0x1fff: true}
	maps := map[uint16]bool{}
	streams := map[uint16]bool{}
	for {
		data, err := tables.NextData()
		if errors.Is(err, astits.ErrNoMorePackets) {
			break
		}
		if err != nil {
			found.Broken = append(found.Broken, err.Error())
			break
		}
		switch {
		case data.PAT != nil:
			for _, program := range data.PAT.Programs {
				listed[program.ProgramMapID] = true
				if program.ProgramNumber != 0 {
					maps[program.ProgramMapID] = true
				}
			}
		case data.PMT != nil:
			listed[data.PMT.PCRPID] = true
			for _, stream := range data.PMT.ElementaryStreams {
				listed[stream.ElementaryPID] = true
				if !streams[stream.ElementaryPID] {
					found.Types = append(found.Types, int(stream.StreamType))
				}
				// Cues are sent only when there is an event, so their intervals are not limited.
				streams[stream.ElementaryPID] = true
				if stream.StreamType != 0x86 && packets[stream.ElementaryPID] == 0 {
					found.Missing = append(found.Missing, stream.ElementaryPID)
				}
			}
		case data.SDT != nil:
			found.Sdt = true
		case data.PES != nil:
			header := data.PES.Header.OptionalHeader
			if header != nil && header.PTS != nil {
				stamps[data.PID] = append(stamps[data.PID], float64(header.PTS.Base)/90)
			}
		}
	}
	found.PatMs = every(0)
	for pid := range maps {
		found.PmtMs = math.Max(found.PmtMs, every(pid))
	}
	if found.Sdt {
		found.SdtMs = every(0x11)
	}
	for pid := range stamps {
		var times []float64
		for _, index := range starts[pid] {
			times = append(times, arrival(references, index))
		}
		if len(times) > 1 {
			found.PtsMs = math.Max(found.PtsMs, widest(times, times[0], times[len(times)-1]))
		}
	}
	for pid := range packets {
		if !listed[pid] {
			found.Unlisted = append(found.Unlisted, pid)
		}
	}
	if len(maps) == 0 {
		found.Broken = append(found.Broken, "no program association table")
	}
	if len(streams) == 0 {
		found.Broken = append(found.Broken, "no program map table")
	}
	return found, nil
}

func main() {
	data, err := os.ReadFile(os.Args[1])
	if err == nil {
		var found report
		if found, err = measure(data); err == nil {
			err = json.NewEncoder(os.Stdout).Encode(found)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
